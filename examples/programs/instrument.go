package programs

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Command returns a command that runs a program from [GoBuild] until the test's context ends. It is prepared by
// [Instrument].
func Command(t testing.TB, binary string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	Instrument(t, cmd)
	return cmd
}

// Instrument prepares a command, before its start, that runs a program from [GoBuild] or this test binary. It changes
// the environment, which the processes have to pass on to those that they start. It does nothing if the tests run
// neither under the race detector nor with coverage.
//
// A data race in one of the processes fails the test at its end, with the report. It leaves alone what the process
// prints and its exit status, which would be 66 instead of 0 otherwise: a status of zklock's own. A cleanup that ends
// the processes has to be registered after Instrument, so that it runs before the search for reports.
//
// Coverage goes where that of the tests goes. Go test sets that to a directory of its own, and GOCOVERDIR as well, so
// another one has to be named behind it:
//
//	go test -C integration -cover ./zklock -args -test.gocoverdir=/tmp/cov
//	go tool covdata percent -i=/tmp/cov
func Instrument(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if testing.CoverMode() != "" {
		cmd.Env = append(cmd.Environ(), "GOCOVERDIR="+coverDir(t))
	}
	if !raceDetector {
		return
	}
	dir := t.TempDir()
	cmd.Env = append(cmd.Environ(), "GORACE="+raceOptions(os.Getenv("GORACE"), filepath.Join(dir, "race")))
	t.Cleanup(func() {
		files, err := filepath.Glob(filepath.Join(dir, "race.*"))
		if err != nil {
			t.Error(err)
		}
		for _, file := range files {
			report, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
			}
			t.Errorf("data race in a process of %s:\n%s", strings.Join(cmd.Args, " "), report)
		}
	})
}

// coverDir returns the directory for coverage. A test binary that was started without go test may have none. It gets
// one that is gone after the test: a program without GOCOVERDIR prints a warning, which tests would take for its own
// words.
func coverDir(t testing.TB) string {
	t.Helper()
	if named := flag.Lookup("test.gocoverdir"); named != nil && named.Value.String() != "" {
		return named.Value.String()
	}
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		return dir
	}
	return t.TempDir()
}

// raceOptions adds to the options that GORACE has already; the last one of a name counts. Without atexit_sleep_ms each
// end would take a second longer. The quotes are for colons, as in C:\, which separate options too.
func raceOptions(has, logPath string) string {
	return strings.TrimSpace(has + ` log_path="` + logPath + `" atexit_sleep_ms=0 exitcode=0`)
}
