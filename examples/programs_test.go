package examples_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/programs"
)

// Each of these programs does its example by itself, checks how it turned out, and ends. Their tests run them in
// bubbles; here they are run as a person would.
var examples = []string{
	"batchjob", "cache", "configuration", "contention", "discovery", "guardedwrite", "holds", "leader", "lostsession", "reentrant", "singleton", "workerpool",
}

// A machine that stands still for half of a session ends leases, and the examples promise that a short outage does not.
var patient = []string{"-session", "20s"}

func TestProgramsEndWellOnAServerInMemory(t *testing.T) {
	bin := build(t)
	for _, name := range examples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end(t, filepath.Join(bin, name), patient...)
		})
	}
}

// build makes the programs, as one can expect to find them.
func build(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	args := []string{"-o", dir}
	for _, name := range examples {
		args = append(args, "./"+name)
	}
	if output, err := programs.GoBuild(t.Context(), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return dir
}

// end fails unless a program ends by itself with status 0; ten minutes are for a program that hangs.
func end(t *testing.T, program string, args ...string) {
	t.Helper()
	ctx, cancel := await.Context(t.Context(), t, 10*time.Minute, program+" to end")
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	programs.Instrument(t, cmd)
	output, err := cmd.CombinedOutput()
	fmt.Fprintf(t.Output(), "%s", output)
	if err != nil && ctx.Err() == nil {
		t.Error(err)
	}
}

func TestEveryProgramIsInTheList(t *testing.T) {
	mains, err := filepath.Glob("*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, main := range mains {
		name := filepath.Dir(main)
		if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil || name == "playground" || name == "testserver" || name == "zklock" {
			continue // a module of its own; servers, until they are stopped; zklock does what its arguments say
		}
		if !slices.Contains(examples, name) {
			t.Errorf("no test runs examples/%s", name)
		}
	}
}
