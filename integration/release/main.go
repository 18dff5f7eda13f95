// Release makes the tags and the notes of a release. It pushes nothing.
//
//	cd integration/release
//	go run . v0.1.0              # a dry run: is everything in order? prints the notes, and what would be done
//	go run . -rehearse DIR v0.1.0   # all of it, to a bare clone and a module proxy in an empty directory
//	go run . -tag v0.1.0         # dates the changelog, commits it, and tags the library
//	git push origin main v0.1.0
//	go run . -build DIR v0.1.0   # the programs, for all systems, with checksums; or of another commit
//	go run . -nested v0.1.0      # tags the nested modules whose requirements are public; again, until all have tags
//
// A tag that was pushed is never moved: the module proxy and the sum database keep what they saw first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

func main() {
	tag := flag.Bool("tag", false, "tag the library, after a commit that dates the changelog")
	nested := flag.Bool("nested", false, "tag the nested modules whose requirements have public tags; repeat it until it says that all have one")
	build := flag.String("build", "", "build the programs of the version, or of a commit, in a new `directory`")
	rehearse := flag.String("rehearse", "", "release to a bare clone and a module proxy in a new `directory`")
	only := flag.String("targets", "", "with -build or -rehearse, a `list` such as linux/amd64,windows/arm64 instead of all")
	dir := flag.String("dir", "../..", "the `directory` of the repository")
	flag.Parse()
	modes := slices.DeleteFunc([]bool{*tag, *nested, *build != "", *rehearse != ""}, func(chosen bool) bool { return !chosen })
	if flag.NArg() != 1 || len(modes) > 1 {
		fmt.Fprintln(os.Stderr, "release: say one version, such as v0.1.0, and at most one of -tag, -build, -nested and -rehearse")
		os.Exit(2)
	}
	r := release{repository: repository{*dir}, version: flag.Arg(0), out: os.Stdout, today: time.Now()}
	do := r.dryRun
	switch {
	case *tag:
		do = r.tagLibrary
	case *nested:
		do = r.tagNested
	}
	chosen, err := parseTargets(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "release: -targets", err)
		os.Exit(2)
	}
	if *build != "" {
		do = func(ctx context.Context) error { return r.build(ctx, *build, chosen) }
	}
	if *rehearse != "" {
		do = func(ctx context.Context) error {
			_, err := r.rehearse(ctx, *rehearse, chosen)
			return err
		}
	}
	if err := do(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// A release is one version of the library.
type release struct {
	repository

	version string
	env     []string // settings of Go, such as where it gets modules from
	out     io.Writer
	today   time.Time
}

func (r release) say(format string, args ...any) { _, _ = fmt.Fprintf(r.out, format+"\n", args...) }

// check returns the notes and the zip of the library, or everything that stands in the way.
func (r release) check(ctx context.Context) (notes string, archive []byte, err error) {
	var problems []error
	if !semver.IsValid(r.version) || semver.Canonical(r.version) != r.version {
		problems = append(problems, fmt.Errorf("%q is no version: v0.1.0 is one", r.version))
	}
	if major := semver.Major(r.version); major != "v0" && major != "v1" {
		problems = append(problems, fmt.Errorf("%s needs a module path that ends in /%s", r.version, major))
	}
	if status, err := r.git(ctx, "status", "--porcelain"); err != nil || status != "" {
		problems = append(problems, errors.Join(fmt.Errorf("there are uncommitted changes:\n%s", status), err))
	}
	if r.hasTag(ctx, r.version) {
		problems = append(problems, fmt.Errorf("there is a tag %s already, and tags are never moved", r.version))
	}
	notes, err = r.notes()
	problems = append(problems, err, r.checkFirst(ctx, notes), r.checkNames(ctx, notes))
	archive, err = r.libraryZip(ctx, "HEAD")
	return notes, archive, errors.Join(append(problems, err)...)
}

// dryRun prints the notes, and what would be done.
func (r release) dryRun(ctx context.Context) error {
	notes, archive, err := r.check(ctx)
	if err != nil {
		return err
	}
	modules, err := r.nestedModules(ctx, "HEAD")
	if err != nil {
		return err
	}
	nested, err := rounds(modules)
	if err != nil {
		return err
	}
	r.say("%s\n", notes)
	r.say("A dry run. With -tag:\n  %s gets the heading %q\n  git tag -a %s", changelog, r.heading(), r.version)
	for _, round := range nested {
		r.say("With -nested, when that is public:")
		for _, dir := range round {
			r.say("  git tag -a %s/%s", dir, r.version)
		}
	}
	r.say("The zip of the library has %d bytes, of at most %d.", len(archive), zipLimit)
	return nil
}

// tagLibrary dates the changelog and tags the commit.
func (r release) tagLibrary(ctx context.Context) error {
	notes, _, err := r.check(ctx)
	if err != nil {
		return err
	}
	if err := r.dateChangelog(); err != nil {
		return err
	}
	if _, err := r.git(ctx, "commit", "--quiet", "-m", "CHANGELOG: "+r.version, "--", changelog); err != nil {
		return err
	}
	if _, err := r.git(ctx, "tag", "-a", r.version, "--cleanup=verbatim", "-m", r.version+"\n\n"+notes); err != nil {
		return err
	}
	r.say("tagged %s. Next:\n  git push origin HEAD %s\n  go run . -nested %s", r.version, r.version, r.version)
	return nil
}

func (r release) heading() string {
	return fmt.Sprintf("## %s (%s)", strings.TrimPrefix(r.version, "v"), r.today.Format(time.DateOnly))
}
