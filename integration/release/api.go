package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// apiFile has a line for each exported name, with its signature.
const apiFile = "integration/api.txt"

// checkNames reports the exported names that have gone, or have another signature, since the newest release, and of
// which the notes of this one say nothing. Without a release before it there are none.
func (r release) checkNames(ctx context.Context, notes string) error {
	last, err := r.lastRelease(ctx)
	if err != nil || last == "" {
		return err
	}
	before, err := r.git(ctx, "show", last+":"+apiFile)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(filepath.Join(r.dir, apiFile))
	if err != nil {
		return err
	}
	if missing := unmentioned(changedNames(before, string(now)), notes); len(missing) > 0 {
		return fmt.Errorf("since %s these exported names have gone or changed, and %s does not say so: %s",
			last, changelog, strings.Join(missing, ", "))
	}
	return nil
}

// lastRelease is the newest tag of the library before HEAD, or "".
func (r release) lastRelease(ctx context.Context) (string, error) {
	tags, err := r.git(ctx, "tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname")
	last, _, _ := strings.Cut(tags, "\n")
	return last, err
}

// apiLine is a line of the file: package, kind, name with the type that has it, the rest.
var apiLine = regexp.MustCompile(`^(\S+): \w+ ([\w.]+)(.*)$`)

// changedNames returns what users of before have to change, as package.Name or package.Type.Name. New names are none.
func changedNames(before, now string) (names []string) {
	have := map[string]bool{}
	for line := range strings.SplitSeq(now, "\n") {
		have[line] = true
	}
	for line := range strings.SplitSeq(before, "\n") {
		if parts := apiLine.FindStringSubmatch(line); parts != nil && !have[line] {
			names = append(names, parts[1][strings.LastIndexByte(parts[1], '/')+1:]+"."+parts[2])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unmentioned returns the names whose last part is no word of the notes.
func unmentioned(names []string, notes string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		word := regexp.QuoteMeta(name[strings.LastIndexByte(name, '.')+1:])
		return regexp.MustCompile(`\b` + word + `\b`).MatchString(notes)
	})
}
