package main

import (
	"strings"
	"testing"
)

func TestNotesOfAFirstReleaseSpeakOfNoChange(t *testing.T) {
	r := release{repository: clone(t), version: version}
	const notes = "### Added\n\n- A lock.\n\n### Fixed\n\n- A bug.\n"
	if err := r.checkFirst(t.Context(), notes); err == nil || !strings.Contains(err.Error(), `"### Fixed"`) {
		t.Errorf("got %v, want a refusal that names the heading", err)
	}
	must(t, r.repository, "tag", "v0.0.1")
	if err := r.checkFirst(t.Context(), notes); err != nil {
		t.Errorf("got %v for a later release, want nil", err)
	}
}

// The run fails as a release would.
func TestTheChangelogHasOnlyAddedUntilThereIsARelease(t *testing.T) {
	_ = clone(t) // says or skips where this is no repository
	r := release{repository: repository{"../.."}}
	notes, _ := r.notes() // there are none right after a release
	if err := r.checkFirst(t.Context(), notes); err != nil {
		t.Error(err)
	}
}
