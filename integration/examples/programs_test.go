package examples_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/framework/zktest/await"
)

// Each of these programs does its example by itself, checks how it turned out, and ends. Their tests run them in
// bubbles; here they are run as a person would.
var examples = []string{
	"batchjob", "cache", "configuration", "contention", "discovery", "guardedwrite", "leader", "lostsession", "reentrant", "singleton",
	"workerpool", "zklock/holds",
}

const (
	packages  = "github.com/gocurator/curator/examples/"
	directory = "../../examples"
)

// A machine that stands still for half of a session ends leases, and the examples promise that a short outage does not.
var patient = []string{"-session", "20s"}

func TestProgramsEndWellOnAServerInMemory(t *testing.T) {
	bin := build(t)
	for _, name := range examples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end(t, filepath.Join(bin, filepath.Base(name)), patient...)
		})
	}
}

// build makes the programs, as one can expect to find them.
func build(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	args := []string{"-o", dir}
	for _, name := range examples {
		args = append(args, packages+name)
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

// listed returns the programs of the examples, as directories below examples. A module of its own tests its programs
// itself, and zklock is a tool with statuses of its own.
func listed(t *testing.T) (found []string) {
	t.Helper()
	mains, err := filepath.Glob(directory + "/*/main.go")
	if err != nil || len(mains) < 8 {
		t.Fatal(mains, err)
	}
	for _, main := range append(mains, directory+"/zklock/holds/main.go") {
		dir := filepath.Dir(main)
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || filepath.Base(dir) == "zklock" {
			continue
		}
		below, err := filepath.Rel(directory, dir)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, filepath.ToSlash(below))
	}
	return found
}

func TestEveryProgramIsInTheList(t *testing.T) {
	for _, name := range listed(t) {
		if name == "playground" || name == "testserver" {
			continue // servers, which run until they are stopped
		}
		if !slices.Contains(examples, name) {
			t.Errorf("no test runs examples/%s", name)
		}
	}
}
