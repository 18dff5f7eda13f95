//go:build unix

package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/examples/programs/behaviour"
)

// different returns the programs that behave in another way, and how.
//
// The playground gets files that are there: it would build its page otherwise, for minutes if the build cache is empty.
func different(t *testing.T) map[string]behaviour.Program {
	t.Helper()
	page := t.TempDir()
	for _, name := range []string{"index.html", "playground.wasm.gz", "guarantees.json", "wasm_exec.js"} {
		if err := os.WriteFile(filepath.Join(page, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]behaviour.Program{
		"playground": {OwnServer: true, Args: []string{"-listen", "127.0.0.1:0", "-files", page}},
		"testserver": {OwnServer: true, Args: []string{"-listen", "127.0.0.1:0"}},
	}
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
	special := different(t)
	for _, example := range all {
		name := filepath.Base(example)
		program := special[name]
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
