package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestChangedNamesAreThoseThatHaveGoneOrHaveAnotherSignature(t *testing.T) {
	const before = "framework: func CheckOp(path string) Op\nframework: method Client.Get(ctx context.Context) error\n" +
		"framework/session: var ErrClosed error\nrecipes/locks: type Lease struct\nrecipes/locks: field Lost.Path string\n"
	const now = "framework: func CheckOp(path string, version int32) Op\nframework: method Client.Get(ctx context.Context) error\n" +
		"framework: func New() Op\nrecipes/locks: type Lease interface\nrecipes/locks: field Lost.Path string\n"
	want := []string{"framework.CheckOp", "locks.Lease", "session.ErrClosed"}
	if got := changedNames(before, now); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestANameIsMentionedAsAWordOfItsOwn(t *testing.T) {
	got := unmentioned([]string{"locks.Lease.Err", "locks.Errors", "locks.Do"}, "- `lease.Err()` is gone. `Done` stays, and so do ErrorsOf all.")
	if want := []string{"locks.Errors", "locks.Do"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A release after the first one names in the changelog each name that its users have to change.
func TestAReleaseWhoseChangelogLacksAChangedNameIsRefused(t *testing.T) {
	r := release{repository: clone(t), version: "v0.2.0", out: io.Discard, today: time.Now()}
	must(t, r.repository, "tag", "v0.1.0")
	notes, err := r.notes()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.checkNames(t.Context(), notes); err != nil {
		t.Errorf("the tagged state: got %v, want no name to have changed", err)
	}
	name := filepath.Join(r.dir, apiFile)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	gone := "framework: func NewClient("
	i := strings.Index(string(text), gone)
	if i < 0 {
		t.Fatalf("%s has no line that begins with %q", apiFile, gone)
	}
	end := i + strings.IndexByte(string(text[i:]), '\n') + 1
	if err := os.WriteFile(name, slices.Concat(text[:i], text[end:]), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, r.repository, "commit", "--quiet", "--all", "--message=a name goes")
	if err := r.checkNames(t.Context(), "nothing of it"); err == nil || !strings.Contains(err.Error(), "framework.NewClient") {
		t.Errorf("got %v, want framework.NewClient to be missed", err)
	}
	if err := r.checkNames(t.Context(), "- `NewClient` is gone."); err != nil {
		t.Errorf("got %v for a changelog that names it, want nil", err)
	}
}

// The run fails when the changelog lacks a name that has changed since the newest release.
func TestTheChangelogHasEachNameThatHasChangedSinceTheNewestRelease(t *testing.T) {
	r := release{repository: repository{"../.."}, out: io.Discard}
	if _, err := r.git(t.Context(), "rev-parse", "HEAD"); err != nil {
		_ = clone(t) // says so, or skips
	}
	notes, _ := r.notes() // there are none right after a release
	if err := r.checkNames(t.Context(), notes); err != nil {
		t.Error(err)
	}
}
