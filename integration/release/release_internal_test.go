package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const version = "v0.1.0"

// clone makes a repository of the newest commit, on which a release can be tried.
func clone(t *testing.T) repository {
	t.Helper()
	origin := repository{"../.."}
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
	if _, err := command(t.Context(), "", nil, "git", "clone", "--quiet", "--depth=1", "file://"+absolute, dir); err != nil {
		t.Fatal(err)
	}
	r := repository{dir}
	for _, setting := range [][]string{{"user.name", "test"}, {"user.email", "test@example.com"}, {"core.hooksPath", "/dev/null"}} {
		must(t, r, append([]string{"config"}, setting...)...)
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

// publish puts a module of a repository into a proxy of files, as the module proxy makes it from a tag.
func publish(t *testing.T, proxy string, r repository, path, revision, subdir string) {
	t.Helper()
	dir := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := zip.CreateFromVCS(&archive, module.Version{Path: path, Version: version}, r.dir, revision, subdir); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		version + ".zip":  archive.String(),
		version + ".mod":  must(t, r, "show", revision+":"+filepath.ToSlash(filepath.Join(subdir, "go.mod"))) + "\n",
		version + ".info": `{"Version":"` + version + `"}`,
		"list":            version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// released is an environment in which modules come from a proxy of files; if it lacks one, from what was downloaded
// before; and else from where this machine has them from. What comes from the proxy is kept in no cache.
func released(t *testing.T, proxy string) []string {
	t.Helper()
	settings, err := command(t.Context(), "", nil, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		t.Fatal(err)
	}
	cache, others, _ := strings.Cut(settings, "\n")
	fresh := t.TempDir()
	t.Cleanup(func() { // modules are written without permission to remove them
		_ = filepath.WalkDir(fresh, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				_ = os.Chmod(path, 0o700) //nolint:gosec // a directory of the test
			}
			return nil
		})
	})
	return []string{
		"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(cache) + "/cache/download," + others,
		"GOMODCACHE=" + fresh,
		"GOSUMDB=off", "GONOSUMDB=*", "GOFLAGS=-mod=mod", "GOWORK=off", "GOTOOLCHAIN=local",
	}
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

func TestModuleBuildsFromTheZipOfTheModuleProxy(t *testing.T) {
	r, proxy := clone(t), t.TempDir()
	publish(t, proxy, r, library, "HEAD", "")
	env := released(t, proxy)
	build(t, env, library, theProgram(t, r))
	bin := t.TempDir()
	// go install refuses a module with replacements
	for _, program := range []string{"zklock", "contention", "testserver"} {
		_, err := command(t.Context(), bin, append(env, "GOBIN="+bin), "go", "install", library+"/examples/"+program+"@"+version)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := os.Stat(filepath.Join(bin, program)); err != nil {
			t.Error(err)
		}
	}
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
	for _, want := range []string{"### Added", "git tag -a v0.1.0", "git tag -a examples/observability/v0.1.0"} {
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
		if _, err := (release{repository: r, version: wrong}).check(t.Context()); err == nil || !strings.Contains(err.Error(), wrong) {
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

func TestReleaseTagsTheLibraryAndThenTheModulesBelow(t *testing.T) {
	r := clone(t)
	if _, err := try(t, r, release.tagLibrary); err != nil {
		t.Fatal(err)
	}
	log := must(t, r, "show", version+":"+changelog)
	if want := unreleased + "\n\n## 0.1.0 (" + time.Now().Format("2006"); !strings.Contains(log, want) {
		t.Errorf("got a changelog without %q", want)
	}
	if notes := must(t, r, "tag", "-l", "--format=%(contents)", version); !strings.Contains(notes, "### Added") {
		t.Errorf("got the notes %q, want those of the changelog", notes)
	}

	proxy := t.TempDir()
	publish(t, proxy, r, library, version, "")
	env := released(t, proxy)
	for _, setting := range env { // what tidy asks while the module is tagged
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	if _, err := try(t, r, release.tagNested); err != nil {
		t.Fatal(err)
	}
	const nested = "examples/observability"
	file := must(t, r, "show", nested+"/"+version+":"+nested+"/go.mod")
	if strings.Contains(file, "replace") || !strings.Contains(file, library+" "+version) {
		t.Errorf("got the go.mod\n%s\nwant one that requires %s %s and replaces nothing", file, library, version)
	}
	if branch := must(t, r, "show", "HEAD:"+nested+"/go.mod"); !strings.Contains(branch, "replace") {
		t.Error("got a branch that does not use the library beside it any more")
	}
	if status, trees := must(t, r, "status", "--porcelain"), must(t, r, "worktree", "list"); status != "" || strings.Contains(trees, "\n") {
		t.Errorf("got changes %q and working trees %q, want none left", status, trees)
	}
	publish(t, proxy, r, library+"/"+nested, nested+"/"+version, nested)
	build(t, env, library+"/"+nested, `package main

import "github.com/gocurator/curator/examples/observability"

func main() { _, _ = observability.New(observability.Config{}) }
`)
}
