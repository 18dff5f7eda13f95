package programs

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// buildRace builds testdata/race.
func buildRace(t *testing.T) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "race")
	if output, err := GoBuild(t.Context(), "-o", binary, "./testdata/race").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return binary
}

// wantSilence runs testdata/race, and fails unless that has status 0 and prints nothing.
func wantSilence(t *testing.T, binary string, args ...string) {
	t.Helper()
	cmd := Command(t, binary, args...)
	if output, err := cmd.CombinedOutput(); err != nil || len(output) > 0 {
		t.Errorf("the program: got %v and %q, want status 0 and nothing", err, output)
	}
}

// racing names, in the environment of a process that TestDataRaceInAProgramFailsItsTest started, the program that the
// test is to run, and its arguments.
const racing = "PROGRAMS_TEST_RACING"

func TestDataRaceInAProgramFailsItsTest(t *testing.T) {
	if words := strings.Fields(os.Getenv(racing)); len(words) > 0 {
		wantSilence(t, words[0], words[1:]...)
		return
	}
	if !raceDetector {
		t.Skip("this test is for the race detector")
	}
	binary := buildRace(t)
	test := func(args string) (output string, err error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:gosec // this program
		// what the tests' own GORACE says counts less
		cmd.Env = append(os.Environ(), racing+"="+binary+args, "GORACE=exitcode=66 log_path=stderr")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if output, err := test(" without"); err != nil {
		t.Errorf("without a data race: got %v, want a test that passes\n%s", err, output)
	}
	output, err := test("")
	if err == nil || strings.Contains(output, "the program: got") {
		t.Errorf("with a data race: got %v, want a test that fails of that alone\n%s", err, output)
	}
	for _, want := range []string{
		"--- FAIL: " + t.Name(), "data race in a process of " + binary, "WARNING: DATA RACE", filepath.Join("race", "main.go:"),
	} {
		if !strings.Contains(output, want) {
			t.Errorf("with a data race: got no %q in\n%s", want, output)
		}
	}
}

func TestCoverageOfAProgramGoesWhereThatOfItsTestGoes(t *testing.T) {
	if testing.CoverMode() == "" { // then a test binary that measures it does the rest
		cmd := exec.CommandContext(t.Context(), "go", "test", "-v", "-count=1", "-cover", "-run=^"+t.Name()+"$", ".")
		if output, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(output), "--- PASS: "+t.Name()) {
			t.Errorf("got %v, want a test that passes\n%s", err, output)
		}
		return
	}
	binary, named, inEnvironment := buildRace(t), t.TempDir(), t.TempDir()
	argument := flag.Lookup("test.gocoverdir").Value
	defer argument.Set(argument.String())
	for _, c := range []struct{ argument, environment, want string }{
		{named, inEnvironment, named}, {"", inEnvironment, inEnvironment}, {"", "", ""},
	} {
		_ = argument.Set(c.argument)
		t.Setenv("GOCOVERDIR", c.environment)
		wantSilence(t, binary, "without")
		found, err := filepath.Glob(filepath.Join(c.want, "covcounters.*"))
		if err != nil || c.want != "" && len(found) != 1 {
			t.Errorf("-test.gocoverdir=%s, GOCOVERDIR=%s: got counters %q, %v, want one file", c.argument, c.environment, found, err)
		}
	}
}
