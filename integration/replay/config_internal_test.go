package main

import (
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestArgumentsThatContradictThemselvesAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"":                                   "which package",
		"-run X":                             "which package",
		"./a ./b":                            "one package",
		"./a -run X ./b":                     "one package",
		"./a -schedule 1 -schedules 2":       "give one of them",
		"./a -seed 1 -seeds 2":               "give one of them",
		"./a -schedule 0":                    "counted from 1",
		"./a -schedules 0":                   "counted from 1",
		"./a -seeds -1":                      "cannot be negative",
		"./a -j 0":                           "at least one",
		"./a -limit 0s":                      "some time",
		"./a -faults " + t.TempDir() + "/no": "no such file",
		"./a -flood":                         "flood",
	} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", args, err, want)
		}
		if got := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); got != unable {
			t.Errorf("%s: got the exit code %d, want %d", args, got, unable)
		}
	}
}

func TestHelpIsNoFailure(t *testing.T) {
	var errs strings.Builder
	if got := run(t.Context(), []string{"-h"}, io.Discard, &errs); got != passed {
		t.Errorf("got the exit code %d, want %d", got, passed)
	}
	for _, want := range []string{"Node.js", "exit code", "-schedules N"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("the help does not have %q:\n%s", want, errs.String())
		}
	}
}

func TestTheCommandToRunAgainGivesTheSameRun(t *testing.T) {
	args := []string{"-seed", "7", "./a", "-run", "^X$/it's", "-schedules", "9", "--", "-steps", "5"}
	c, err := parse(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := `go run github.com/gocurator/curator/integration/replay@latest ./a -run '^X$/it'\''s' -seed 7 -schedule 3 -- -steps 5`
	if got := c.again(3, ""); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	again, err := parse([]string{"./a", "-run", "^X$/it's", "-seed", "7", "-schedule", "3", "--", "-steps", "5"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := again.arguments(true, false), c.arguments(true, false); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got, want := again.numbers(), (numbers{3, 3}); got != want {
		t.Errorf("got the schedules %v, want %v", got, want)
	}
	if again.shrinkTime != 0 || c.shrinkTime != time.Minute {
		t.Errorf("got %v and %v for shrinking, want 0 for one schedule and a minute for a search", again.shrinkTime, c.shrinkTime)
	}
}

func TestFaultsComeFromTheirFile(t *testing.T) {
	file := filepath.Join("testdata", "planted.txt")
	c, err := parse([]string{"./a", "-faults", file}, io.Discard)
	if err != nil || len(c.faults) == 0 {
		t.Fatalf("got %d bytes, %v; want the file", len(c.faults), err)
	}
	if got, want := c.again(1, c.faultsFile), " -schedule 1 -faults "+file; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want it to end in %s", got, want)
	}
}
