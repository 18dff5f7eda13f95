// Package programs builds the programs that tests run, and prepares the commands that run them, so that the race
// detector and coverage see these programs as they see the tests.
package programs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Build builds the program of the package under test, as [GoBuild] does. Its file has the name of the package's
// directory, and is gone after the test.
func Build(t *testing.T) (binary string) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(t.TempDir(), filepath.Base(dir))
	if output, err := GoBuild(t.Context(), "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return binary
}

// GoBuild returns the command go build with these arguments. It builds programs as this test binary was built: with the
// race detector if the tests run under it, and for coverage if the tests measure that. What GOFLAGS holds, such as
// -overlay, reaches the command through the environment. The flags of go test itself, such as -tags, do not.
//
// It needs no test, so TestMain can call it. [Instrument] prepares the commands that run such a program.
func GoBuild(ctx context.Context, args ...string) *exec.Cmd {
	flags := buildFlags(raceDetector, testing.CoverMode())
	return exec.CommandContext(ctx, "go", slices.Concat([]string{"build"}, flags, args)...)
}

// buildFlags counts the library and its examples as covered, in programs of other modules too.
func buildFlags(race bool, coverMode string) (flags []string) {
	if race {
		flags = append(flags, "-race")
	}
	if coverMode != "" {
		flags = append(flags, "-cover", "-covermode="+coverMode, "-coverpkg=github.com/gocurator/curator/...")
	}
	return flags
}
