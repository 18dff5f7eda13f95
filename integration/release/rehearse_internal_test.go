package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	rehearsing sync.Mutex
	rehearsed  *rehearsal
	rehearsals string // the directory of all of it
)

func TestMain(m *testing.M) {
	status := m.Run()
	if rehearsals != "" {
		_ = os.RemoveAll(rehearsals)
	}
	os.Exit(status)
}

// rehearsalOf releases the newest commit once for all tests, with programs for this machine.
func rehearsalOf(t *testing.T) *rehearsal {
	t.Helper()
	rehearsing.Lock()
	defer rehearsing.Unlock()
	if rehearsed != nil {
		return rehearsed
	}
	if rehearsals != "" {
		t.Fatal("the rehearsal has failed in another test")
	}
	r := release{repository: clone(t), version: version, today: time.Now()}
	var err error
	if rehearsals, err = os.MkdirTemp("", "rehearsal"); err != nil { //nolint:usetesting // other tests use it later
		t.Fatal(err)
	}
	var said bytes.Buffer
	r.out = &said
	if rehearsed, err = r.rehearse(t.Context(), filepath.Join(rehearsals, "all"), []target{{"linux", runtime.GOARCH}}); err != nil {
		t.Fatalf("%s%v", said.String(), err)
	}
	return rehearsed
}

func TestRehearsalReleasesToABareCloneAndAProxy(t *testing.T) {
	a := rehearsalOf(t)
	log := must(t, a.origin, "show", version+":"+changelog)
	if want := unreleased + "\n\n## 0.1.0 (" + time.Now().Format("2006"); !strings.Contains(log, want) {
		t.Errorf("got a changelog without %q", want)
	}
	if notes := must(t, a.origin, "tag", "-l", "--format=%(contents)", version); !strings.Contains(notes, "### Added") {
		t.Errorf("got the notes %q, want those of the changelog", notes)
	}
	files, err := filepath.Glob(filepath.Join(a.work, "files", "*_"+version+"_*"))
	if err != nil || len(files) != 6 {
		t.Errorf("got %q and %v, want an archive, a bill and an image of two programs", files, err)
	}
	const nested = "integration"
	file := must(t, a.origin, "show", nested+"/"+version+":"+nested+"/go.mod")
	for _, required := range []string{library, library + "/examples", library + "/examples/zklock"} {
		if strings.Contains(file, "replace") || !strings.Contains(file, required+" "+version) {
			t.Errorf("got the go.mod\n%s\nwant one that requires %s %s and replaces nothing", file, required, version)
		}
	}
	if tags := must(t, a.origin, "tag", "-l", "integration/*/"+version); tags != "" {
		t.Errorf("got the tags %s, want none of modules that only this repository uses", tags)
	}
	if branch := must(t, a.origin, "show", "main:"+nested+"/go.mod"); !strings.Contains(branch, "replace") {
		t.Error("got a branch that does not use the library beside it any more")
	}
	r := a.maintainer.repository
	if status, trees := must(t, r, "status", "--porcelain"), must(t, r, "worktree", "list"); status != "" || strings.Contains(trees, "\n") {
		t.Errorf("got changes %q and working trees %q, want none left", status, trees)
	}
}

func TestModulesOfARehearsalBuildAsDependencies(t *testing.T) {
	a := rehearsalOf(t)
	build(t, a.maintainer.env, library, theProgram(t, a.maintainer.repository))
	build(t, a.maintainer.env, library+"/examples/observability", `package main

import "github.com/gocurator/curator/examples/observability"

func main() { _, _ = observability.New(observability.Config{}) }
`)
}
