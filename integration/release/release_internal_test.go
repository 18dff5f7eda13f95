package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const version = "v0.1.0"

// clone makes a repository of the newest commit, on which a release can be tried, also when that commit was released.
func clone(t *testing.T) repository {
	t.Helper()
	return cloneOf(t, repository{"../.."})
}

func cloneOf(t *testing.T, origin repository) repository {
	t.Helper()
	if _, err := origin.git(t.Context(), "rev-parse", "HEAD"); err != nil {
		if os.Getenv("CURATOR_INTEGRATION") == "required" {
			t.Fatalf("this is no clone of a repository: %v", err)
		}
		t.Skip("this is no clone of a repository: ", err)
	}
	absolute, err := filepath.Abs(origin.dir)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "clone")
	if _, err := command(t.Context(), "", nil, "git", "clone", "--quiet", "--no-tags", "--depth=1", "file://"+absolute, dir); err != nil {
		t.Fatal(err)
	}
	r := repository{dir}
	for _, setting := range [][]string{{"user.name", "test"}, {"user.email", "test@example.com"}, {"core.hooksPath", "/dev/null"}} {
		must(t, r, append([]string{"config"}, setting...)...)
	}
	if _, err := (release{repository: r}).notes(); err != nil {
		writeNotes(t, r, "### Added\n\n- What the test has.\n")
	}
	return r
}

// must runs git, and returns what it printed.
func must(t *testing.T, r repository, args ...string) string {
	t.Helper()
	out, err := r.git(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// writeNotes commits an entry of the changelog below "Unreleased".
func writeNotes(t *testing.T, r repository, notes string) {
	t.Helper()
	name := filepath.Join(r.dir, changelog)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), unreleased+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", changelog, unreleased)
	}
	if err := os.WriteFile(name, []byte(head+unreleased+"\n\n"+notes+rest), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, r, "commit", "--quiet", "-m", "CHANGELOG: notes", "--", changelog)
}

// build makes a program of a module of its own, which requires a module of the proxy.
func build(t *testing.T, env []string, required, source string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": source, "go.mod": "module example.com/user\n\ngo 1.25.0\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"get", required + "@" + version}, {"get", "."}, {"vet", "."}} {
		if _, err := command(t.Context(), dir, env, "go", args...); err != nil {
			t.Error(err)
		}
	}
}

// theProgram is the program that README.md offers for pasting.
func theProgram(t *testing.T, r repository) string {
	t.Helper()
	_, rest, _ := strings.Cut(must(t, r, "show", "HEAD:README.md"), "```go\n")
	program, _, _ := strings.Cut(rest, "```")
	if !strings.HasPrefix(program, "package main") {
		t.Fatal("README.md does not begin with a program")
	}
	return program
}

func try(t *testing.T, r repository, do func(release, context.Context) error) (out string, err error) {
	t.Helper()
	var text bytes.Buffer
	err = do(release{repository: r, version: version, out: &text, today: time.Now()}, t.Context())
	return text.String(), err
}

func TestDryRunPrintsTheNotesAndChangesNothing(t *testing.T) {
	r := clone(t)
	out, err := try(t, r, release.dryRun)
	for _, want := range []string{
		"### Added", "git tag -a v0.1.0", "git tag -a examples/observability/v0.1.0", "git tag -a integration/v0.1.0", "zip of the library has",
	} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("got %v and %q, want %q", err, out, want)
		}
	}
	if tags, status := must(t, r, "tag"), must(t, r, "status", "--porcelain"); tags != "" || status != "" {
		t.Errorf("got tags %q and changes %q, want none", tags, status)
	}
}

func TestWhatStandsInTheWayOfAReleaseIsNamed(t *testing.T) {
	r := clone(t)
	for _, wrong := range []string{"0.1.0", "v0.1", "v2.0.0"} {
		if _, _, err := (release{repository: r, version: wrong}).check(t.Context()); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: got %v, want a refusal that names it", wrong, err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.dir, "stray"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, r, "tag", version)
	_, err := try(t, r, release.tagLibrary)
	for _, want := range []string{"stray", "there is a tag v0.1.0 already"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := try(t, clone(t), release.tagNested); err == nil || !strings.Contains(err.Error(), "there is no tag") {
		t.Errorf("got %v, want the library's tag first", err)
	}
}

// A workflow tests the commit that was tagged, and the run the one that follows.
func TestCommitThatWasReleasedCanBeTestedAsAnyOther(t *testing.T) {
	r := clone(t)
	if _, err := try(t, r, release.tagLibrary); err != nil {
		t.Fatal(err)
	}
	again := cloneOf(t, r)
	if _, err := try(t, again, release.dryRun); err != nil {
		t.Errorf("got %v for a clone of what was released, want nil", err)
	}
}
