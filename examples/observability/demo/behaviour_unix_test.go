//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gocurator/curator/examples/internal/behaviour"
)

func TestProgramBehavesAsTheOthers(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "demo")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	behaviour.Program{Name: "demo", Binary: binary, Sample: "go run ./demo"}.Test(t)
}
