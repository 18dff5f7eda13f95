package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	changelog  = ".github/CHANGELOG.md"
	unreleased = "## Unreleased"
)

// notes is what the changelog says of the release.
func (r release) notes() (string, error) {
	text, err := os.ReadFile(filepath.Join(r.dir, changelog))
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(string(text), "\n"+unreleased+"\n")
	if !found {
		return "", fmt.Errorf("%s has no heading %q", changelog, unreleased)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	if section = strings.TrimSpace(section); section == "" {
		return "", fmt.Errorf("%s says nothing below %q", changelog, unreleased)
	}
	return section, nil
}

// dateChangelog gives the unreleased changes the version's heading.
func (r release) dateChangelog() error {
	name := filepath.Join(r.dir, changelog)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	dated := strings.Replace(string(text), unreleased+"\n", unreleased+"\n\n"+r.heading()+"\n", 1)
	return os.WriteFile(name, []byte(dated), 0o644) //nolint:gosec // to be read
}

// checkFirst refuses notes of a first release that speak of changes: there was nothing before that could have changed.
func (r release) checkFirst(ctx context.Context, notes string) error {
	last, err := r.lastRelease(ctx)
	if err != nil || last != "" {
		return err
	}
	var problems []error
	for line := range strings.Lines(notes) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "### ") && line != "### Added" {
			problems = append(problems, fmt.Errorf("%s has %q before there is a release: write what the first one has below %q",
				changelog, line, "### Added"))
		}
	}
	return errors.Join(problems...)
}
