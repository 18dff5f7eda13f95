package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestModulesAreTaggedAfterTheModulesThatTheyRequire(t *testing.T) {
	modules := []nestedModule{
		{"examples", nil}, {"examples/zklock", []string{"examples"}}, {"integration", []string{"examples", "examples/zklock"}}, {"adapter", nil},
	}
	got, err := rounds(modules)
	if want := [][]string{{"examples", "adapter"}, {"examples/zklock"}, {"integration"}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got the rounds %v and %v, want %v", got, err, want)
	}
	ready, left := nextRound(modules, map[string]bool{"examples": true})
	if want := []string{"examples/zklock", "adapter"}; !reflect.DeepEqual(ready, want) || left != 1 {
		t.Errorf("with a tag of examples: got %v and %d left, want %v and 1", ready, left, want)
	}
	modules[0].needs = []string{"integration"}
	if got, err := rounds(modules); err == nil || !strings.Contains(err.Error(), "circle") {
		t.Errorf("got %v and %v for a circle, want an error", got, err)
	}
}

func TestNestedModulesAreThoseThatUsersCanRequire(t *testing.T) {
	modules, err := clone(t).nestedModules(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, m := range modules {
		got[m.dir] = m.needs
	}
	for dir, want := range map[string][]string{
		"examples": nil, "examples/adapters/kratos": nil, "examples/kerberos": nil, "examples/zklock": {"examples"},
		"examples/observability": {"examples"}, "integration": {"examples", "examples/zklock"},
	} {
		if needs, found := got[dir]; !found || !reflect.DeepEqual(needs, want) {
			t.Errorf("%s: got %v, %t, want a module that needs %v", dir, needs, found, want)
		}
	}
	for dir := range got {
		if strings.HasPrefix(dir, "integration/") {
			t.Errorf("%s: got a module for users", dir)
		}
	}
}

func TestAReleasedModuleRequiresWhatItHasReplaced(t *testing.T) {
	name := filepath.Join(t.TempDir(), "go.mod")
	for text, want := range map[string]string{
		`module x

replace (
	github.com/gocurator/curator => ../..
	github.com/gocurator/curator/examples => ..
)

require (
	github.com/gocurator/curator v0.0.0
	github.com/gocurator/curator/examples v0.0.0
	golang.org/x/sync v0.22.0
)
`: `module x

require (
	github.com/gocurator/curator v0.1.0
	github.com/gocurator/curator/examples v0.1.0
	golang.org/x/sync v0.22.0
)
`,
		"module x\n\nreplace golang.org/x/sync => ../sync\n": "",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := requireRelease(name, version)
		got, errRead := os.ReadFile(name) //nolint:gosec // just written
		if errRead != nil || (err == nil) != (want != "") || err == nil && string(got) != want {
			t.Errorf("%s\ngot %v, %v and\n%s\nwant\n%s", text, err, errRead, got, want)
		}
	}
}

func TestTheZipOfTheLibraryIsSmallAndHasNoOtherModule(t *testing.T) {
	r := release{repository: clone(t), version: version}
	data, err := r.libraryZip(t.Context(), "HEAD") // refuses more than zipLimit
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(archive.File) == 0 {
		t.Fatal(archive, err)
	}
	for _, f := range archive.File {
		name := strings.TrimPrefix(f.Name, library+"@"+version+"/")
		if strings.HasPrefix(name, "examples/") || strings.HasPrefix(name, "integration/") {
			t.Errorf("got %s in the zip of the library", name)
		}
	}
}
