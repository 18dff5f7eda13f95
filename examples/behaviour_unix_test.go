//go:build unix

package examples_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gocurator/curator/examples/internal/behaviour"
	"github.com/gocurator/curator/integration/programs"
)

// different are the programs that behave in another way, and how.
var different = map[string]behaviour.Program{
	"playground": {OwnServer: true, Args: []string{"-listen", "127.0.0.1:0"}},
	"testserver": {OwnServer: true, Args: []string{"-listen", "127.0.0.1:0"}},
}

// TestProgramsBehaveAlike walks over all programs of this module.
func TestProgramsBehaveAlike(t *testing.T) {
	mains, err := filepath.Glob("*/main.go")
	if err != nil || len(mains) < 8 {
		t.Fatal(mains, err)
	}
	dir := t.TempDir()
	build := []string{"-o", dir}
	var names []string
	for _, main := range mains {
		name := filepath.Dir(main)
		if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
			continue // tested in its own module
		}
		if name == "zklock" {
			continue // a tool: it does what its arguments say, and has statuses of its own
		}
		names, build = append(names, name), append(build, "./"+name)
	}
	if output, err := programs.GoBuild(t.Context(), build...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, name := range names {
		program := different[name]
		if program.Args == nil {
			program.Args = patient
		}
		program.Name, program.Binary, program.Sample = name, filepath.Join(dir, name), "go run ./examples/"+name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program.Test(t)
		})
	}
}
