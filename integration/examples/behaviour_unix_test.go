//go:build unix

package examples_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/examples/programs/behaviour"
)

// different are the programs that behave in another way, and how.
var different = map[string]behaviour.Program{
	"playground": {OwnServer: true, Args: []string{"-listen", "127.0.0.1:0"}},
	"testserver": {OwnServer: true, Args: []string{"-listen", "127.0.0.1:0"}},
}

// TestProgramsBehaveAlike walks over all programs of the examples.
func TestProgramsBehaveAlike(t *testing.T) {
	bin := t.TempDir()
	build := []string{"-o", bin}
	all := listed(t)
	for _, program := range all {
		build = append(build, packages+program)
	}
	if output, err := programs.GoBuild(t.Context(), build...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, example := range all {
		name := filepath.Base(example)
		program := different[name]
		if program.Args == nil {
			program.Args = patient
		}
		program.Name, program.Binary, program.Sample = name, filepath.Join(bin, name), sample(example)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program.Test(t)
		})
	}
}

// sample is how a reader runs an example in a clone.
func sample(example string) string {
	if below, ok := strings.CutPrefix(example, "zklock/"); ok {
		return "go run -C examples/zklock ./" + below
	}
	return "go run -C examples ./" + example
}
