package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a run of go test says of package x/p.
var (
	passes          = []event{begins("TestA"), ends("TestA", "pass"), ends("", "pass")}
	waits           = []event{begins("TestA"), output("TestA", "    a_test.go:3: timed out waiting for b\n"), ends("TestA", "fail"), output("", "FAIL\n"), ends("", "fail")}
	isWrong         = []event{begins("TestA"), output("TestA", "    a_test.go:4: got 1, want 2\n"), ends("TestA", "fail"), ends("", "fail")}
	crashes         = []event{begins("TestA"), output("TestA", "SIGSEGV: segmentation violation\n"), ends("", "fail")}
	waitsAndCrashes = slices.Concat(waits[:3], []event{begins("TestB"), output("TestB", "SIGSEGV: segmentation violation\n"), ends("", "fail")})
	skips           = []event{begins("TestA"), ends("TestA", "skip"), ends("", "pass")}
	runsNone        = []event{output("", "ok  \tx/p\t0.1s [no tests to run]\n"), ends("", "pass")}
	three           = slices.Concat(passes[:2], passes[:2], passes)
	thrice          = "x/p -run ^TestA$ -count 3 -race"
	again           = "GOMAXPROCS=1 x/p -race"
)

func TestWhatMayBeChanceIsRepeated(t *testing.T) {
	for _, tt := range []struct {
		name     string
		says     [][]event // run by run
		most     int
		list     string
		flags    []string
		calls    []string // after the first one
		failures string   // in it
		repeated bool     // the test is entered
	}{
		{name: "a test that passes", says: [][]event{passes}},
		{name: "once", says: [][]event{waits, three}, calls: []string{thrice}, repeated: true},
		{name: "a wrong value", says: [][]event{isWrong}, failures: "got 1, want 2"},
		{
			name: "always", says: [][]event{waits, waits}, calls: []string{thrice},
			failures: "timed out waiting for b\n  alone, it passed 0 of 3 repeats\n",
		},
		{
			name: "a wrong value when it is repeated", says: [][]event{waits, slices.Concat(passes[:2], isWrong)}, calls: []string{thrice},
			failures: "timed out waiting for b\n  alone, it passed 1 of 3 repeats\n  FAIL\tx/p\n        a_test.go:4: got 1, want 2\n",
		},
		{name: "no test to repeat", says: [][]event{waits, runsNone}, calls: []string{thrice}, failures: "it passed 0 of"},
		{name: "a test that is skipped then", says: [][]event{waits, skips}, calls: []string{thrice}, failures: "it passed 0 of"},
		{name: "too few passes", says: [][]event{waits, slices.Concat(passes[:2], passes)}, calls: []string{thrice}, failures: "it passed 2 of"},
		{name: "a crash when it is repeated", says: [][]event{waits, crashes}, calls: []string{thrice}, failures: "the race detector's runtime died"},
		{name: "a listed test", says: [][]event{waits}, list: "x/p TestA 2026-01-02\n", failures: "no repeats: list.txt lists it since 2026-01-02"},
		{name: "a test around it is listed", says: [][]event{waits}, list: "x/p TestA/b 2026-01-02\n", failures: "no repeats: list.txt lists it since 2026-01-02"},
		{name: "a name that only begins alike is listed", says: [][]event{waits, three}, list: "x/p TestAb 2026-01-02\n", calls: []string{thrice}, repeated: true},
		{name: "another test is listed", says: [][]event{waits, three}, list: "x/q TestA 2026-01-02\n", calls: []string{thrice}, repeated: true},
		{name: "too many tests", says: [][]event{waits}, most: -1, failures: "no repeats: 1 tests have failed by a wait"},
		{name: "a crash", says: [][]event{crashes, passes}, calls: []string{again}},
		{name: "a crash, and then a wait", says: [][]event{crashes, waits, three}, calls: []string{again, thrice}, repeated: true},
		{name: "a crash, and then a wrong value", says: [][]event{crashes, isWrong}, calls: []string{again}, failures: "got 1, want 2"},
		{
			name: "a wait, and then a crash", says: [][]event{waitsAndCrashes, passes, three}, calls: []string{again, thrice}, repeated: true,
		},
		{
			name: "a wait, and then a crash, and a wait", says: [][]event{waitsAndCrashes, waits, three}, calls: []string{again, thrice}, repeated: true,
		},
		{
			name: "a listed test that waits before a crash", says: [][]event{waitsAndCrashes, passes}, list: "x/p TestA 2026-01-02\n",
			calls: []string{again}, failures: "no repeats: list.txt lists it",
		},
		{
			name: "with -failfast", says: [][]event{waits}, flags: []string{"-failfast"}, failures: "no repeats: with -failfast",
		},
		{
			name: "crashes without end", says: [][]event{crashes, crashes, crashes, crashes}, calls: []string{again, again, again},
			failures: "FAIL\tx/p\n  the race detector's runtime died (golang.org/issue/78156), 4 times\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := filepath.Join(t.TempDir(), "list.txt")
			if err := os.WriteFile(list, []byte(tt.list), 0o600); err != nil {
				t.Fatal(err)
			}
			listed, err := readList(list)
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			r := &runner{
				report: newReport(io.Discard, false), packages: []string{"./..."}, flags: append([]string{"-race", "-run=A"}, tt.flags...),
				most: 1 + tt.most, list: list, listed: listed, now: func() time.Time { return time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC) },
			}
			r.test = func(_ context.Context, report *report, args, env []string) error {
				calls = append(calls, strings.Join(append(env, args...), " "))
				if len(calls) > len(tt.says) {
					t.Fatalf("go test runs %d times: %v", len(calls), calls)
				}
				return report.read(strings.NewReader(events(t, tt.says[len(calls)-1]...)))
			}
			if err := r.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i, call := range tt.calls {
				if !strings.Contains(call, " -run ") {
					tt.calls[i] = call + " -run=A"
				}
			}
			if want := append([]string{strings.Join(append([]string{"./... -race -run=A"}, tt.flags...), " ")}, tt.calls...); !slices.Equal(calls, want) {
				t.Errorf("got go test\n %s\nwant\n %s", strings.Join(calls, "\n "), strings.Join(want, "\n "))
			}
			failures := strings.Join(r.report.failures, "")
			if !strings.Contains(failures, tt.failures) || r.report.hasFailed() != (tt.failures != "") {
				t.Errorf("got failed %v and\n%swant %q", r.report.hasFailed(), failures, tt.failures)
			}
			entered, err := os.ReadFile(list)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.list
			if tt.repeated {
				want += "\nx/p TestA 2026-11-23\n\t    a_test.go:3: timed out waiting for b\n"
			}
			if string(entered) != want {
				t.Errorf("got the list\n%swant\n%s", entered, want)
			}
		})
	}
}

// What has passed already is entered, and what was not repeated has failed.
func TestARunThatEndsDuringTheRepeatsForgetsNothing(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list.txt")
	ctx, cancel := context.WithCancel(t.Context())
	r := &runner{report: newReport(io.Discard, false), packages: []string{"./..."}, most: 8, list: list, now: time.Now}
	both := slices.Concat(waits[:3], fails("TestB", "    b_test.go:3: timed out waiting for c\n"), waits[3:])
	r.test = func(_ context.Context, report *report, args, _ []string) error {
		if args[0] == "./..." {
			return report.read(strings.NewReader(events(t, both...)))
		}
		cancel()
		return report.read(strings.NewReader(events(t, three...)))
	}
	if err := r.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	entered, err := readList(list)
	if _, ok := entered[testName{"x/p", "TestA"}]; err != nil || !ok || len(entered) != 1 {
		t.Errorf("got the list %v, %v, want TestA", entered, err)
	}
	if got := strings.Join(r.report.failures, ""); !strings.Contains(got, "timed out waiting for c") || !strings.Contains(got, "no repeats: the run was ended") {
		t.Errorf("got failures\n%swant TestB, which was not repeated", got)
	}
}

func TestRepeatsKeepTheFlagsThatPickNoTests(t *testing.T) {
	got, all := others([]string{"-race", "-run", "Rule3", "-count=20", "-v", "-test.run=X", "--skip", "Y", "-cpu=1,2", "-terms", "50", "run", "-counts=3"})
	if want := "-race -v --skip Y -terms 50 run -counts=3"; strings.Join(got, " ") != want || !all {
		t.Errorf("got %v, %v, want %s", got, all, want)
	}
	if _, all := others([]string{"-failfast"}); all {
		t.Error("got that all tests have run with -failfast, want that some may not")
	}
}

func TestPatternMatchesOneTest(t *testing.T) {
	if got, want := pattern("TestA/b.c/(d)#01"), `^TestA$/^b\.c$/^\(d\)#01$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
