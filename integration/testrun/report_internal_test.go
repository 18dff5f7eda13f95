package main

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// events makes the lines of go test -json, of package x/p unless they name another.
func events(t *testing.T, all ...event) string {
	t.Helper()
	var text strings.Builder
	for _, e := range all {
		if e.Package == "" && e.ImportPath == "" {
			e.Package = "x/p"
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	return text.String()
}

func entries(all []entry) string {
	var text strings.Builder
	for _, e := range all {
		text.WriteString(e.name.String() + ": " + strings.Join(e.output, ""))
	}
	return text.String()
}

func begins(test string) event       { return event{Action: "run", Test: test} }
func output(test, text string) event { return event{Action: "output", Test: test, Output: text} }
func ends(test, how string) event    { return event{Action: how, Test: test, Elapsed: 1.5} }

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		name              string
		in                []event
		printed           string
		failures, crashed string
		waited            string // to be repeated
		failed            bool
	}{
		{
			name: "passes",
			in: []event{
				output("TestA", "=== RUN   TestA\n"), output("TestA", "    a_test.go:3: a log\n"),
				output("TestA", "--- PASS: TestA (1.5s)\n"), ends("TestA", "pass"),
				output("", "PASS\n"), output("", "ok  \tx/p\t1.6s\n"), ends("", "pass"),
			},
			printed: "ok  \tx/p\t1.6s\n",
		},
		{
			name: "fails",
			in: []event{
				output("", "-test.shuffle 17\n"), output("TestA", "    a_test.go:3: a log\n"), ends("TestA", "pass"),
				output("TestB", "    b_test.go:4: got 1\n"), output("TestB", "--- FAIL: TestB (0.0s)\n"), ends("TestB", "fail"),
				output("", "FAIL\n"), output("", "FAIL\tx/p\t1.6s\n"), ends("", "fail"),
			},
			printed:  "    b_test.go:4: got 1\n--- FAIL: TestB (0.0s)\nFAIL\nFAIL\tx/p\t1.6s\n",
			failures: "FAIL\tx/p (again in the same order: -shuffle=17)\n      b_test.go:4: got 1\n  --- FAIL: TestB (0.0s)\n", failed: true,
		},
		{
			name: "fails with messages of several lines",
			in: []event{
				output("TestA", "    a_test.go:3: got\n"), output("TestA", "        1\n"), output("TestA", "          2\n"),
				output("TestA", "    a_test.go:4: got\n"), output("TestA", "        more\n"), output("TestA", "a print\n"), output("TestA", "        which is no message\n"),
				output("TestA/b", "    b_test.go:5: deeper\n"), output("TestA/b", "        3\n"),
				ends("TestA/b", "fail"), ends("TestA", "fail"), ends("", "fail"),
			},
			printed: "    b_test.go:5: deeper\n        3\n    a_test.go:3: got\n        1\n          2\n    a_test.go:4: got\n" +
				"        more\na print\n        which is no message\n",
			failures: "FAIL\tx/p\n      b_test.go:5: deeper\n          3\n      a_test.go:3: got\n          1\n            2\n" +
				"      a_test.go:4: got\n          more\n", failed: true,
		},
		{
			name: "the runtime dies",
			in: []event{
				output("TestA", "SIGSEGV: segmentation violation\n"), ends("TestA", "fail"), output("", "FAIL\tx/p\t1.6s\n"), ends("", "fail"),
			},
			printed: "SIGSEGV: segmentation violation\nFAIL\tx/p\t1.6s\n", crashed: "x/p",
		},
		{
			name: "the runtime dies after a failure",
			in: []event{
				output("TestA", "--- FAIL: TestA (0.0s)\n"), ends("TestA", "fail"),
				output("TestB", "ThreadSanitizer: CHECK failed: x.cpp\n"), output("", "FAIL\tx/p\t1.6s\n"), ends("", "fail"),
			},
			printed:  "--- FAIL: TestA (0.0s)\nFAIL\tx/p\t1.6s\nThreadSanitizer: CHECK failed: x.cpp\n",
			failures: "FAIL\tx/p\n  --- FAIL: TestA (0.0s)\n  TestB never ended\n  and " + crashName + "\n", failed: true,
		},
		{
			name: "a test panics on an address", // no crash of the runtime
			in: []event{
				output("TestA", "panic: runtime error: invalid memory address\n"),
				output("TestA", "[signal SIGSEGV: segmentation violation]\n"), ends("TestA", "fail"), ends("", "fail"),
			},
			printed:  "panic: runtime error: invalid memory address\n[signal SIGSEGV: segmentation violation]\n",
			failures: "FAIL\tx/p\n  panic: runtime error: invalid memory address\n", failed: true,
		},
		{
			name: "no test says why",
			in:   []event{output("", "exit status 3\n"), output("", "FAIL\tx/p\t1.6s\n"), ends("", "fail")}, printed: "exit status 3\nFAIL\tx/p\t1.6s\n",
			failures: "FAIL\tx/p\n  exit status 3\n  FAIL\tx/p\t1.6s\n", failed: true,
		},
		{
			name: "a test waits for too long",
			in: []event{
				begins("TestA"), output("TestA", "    a_test.go:3: timed out waiting for b\n"), output("TestA", "--- FAIL: TestA (0.0s)\n"), ends("TestA", "fail"),
				output("", "FAIL\n"), output("", "exit status 1\n"), output("", "FAIL\tx/p\t1.6s\n"), ends("", "fail"),
			},
			printed: "    a_test.go:3: timed out waiting for b\n--- FAIL: TestA (0.0s)\nFAIL\nexit status 1\nFAIL\tx/p\t1.6s\n",
			waited:  "x/p TestA:     a_test.go:3: timed out waiting for b\n--- FAIL: TestA (0.0s)\n",
		},
		{
			name: "a test waits for too long, and another one fails",
			in: []event{
				output("TestA", "    a_test.go:3: timed out waiting for b\n"), ends("TestA", "fail"),
				output("TestB", "    a_test.go:9: got 1\n"), ends("TestB", "fail"), ends("", "fail"),
			},
			printed:  "    a_test.go:3: timed out waiting for b\n    a_test.go:9: got 1\n",
			failures: "FAIL\tx/p\n      a_test.go:3: timed out waiting for b\n      a_test.go:9: got 1\n", failed: true,
		},
		{
			name: "does not build",
			in: []event{
				{Action: "build-output", ImportPath: "x/p", Output: "p.go:1: no\n"},
				{Action: "build-fail", ImportPath: "x/p"},
				output("", "FAIL\tx/p [build failed]\n"), ends("", "fail"),
			},
			printed:  "p.go:1: no\nFAIL\tx/p [build failed]\n",
			failures: "p.go:1: no\nFAIL\tx/p\n  FAIL\tx/p [build failed]\n", failed: true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var printed strings.Builder
			r := newReport(&printed, false)
			if err := r.read(strings.NewReader(events(t, tt.in...))); err != nil {
				t.Fatal(err)
			}
			for what, pair := range map[string][2]string{
				"printed":  {printed.String(), tt.printed},
				"failures": {strings.Join(r.failures, ""), tt.failures},
				"crashed":  {strings.Join(r.retry, " "), tt.crashed},
				"waited":   {entries(r.waited), tt.waited},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s: got\n%swant\n%s", what, pair[0], pair[1])
				}
			}
			if got := r.hasFailed(); got != tt.failed {
				t.Errorf("got failed %v, want %v", got, tt.failed)
			}
		})
	}
}

func TestAPackageThatDoesNotEndWithGoTestHasFailed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		in     []event
		status int
		want   string
	}{
		{"all have ended", []event{begins("TestA"), ends("TestA", "pass"), ends("", "pass")}, 0, ""},
		{"a package has failed", isWrong, 1, "got 1, want 2"},
		{"a wait", waits, 1, ""},
		{"go test was killed after a wait", waits, -1, "go test: it has ended"},
		{"go test was killed in a package", []event{begins("TestA"), output("TestA", "a print\n")}, -1, "TestA never ended"},
		{"go test says nothing", nil, 1, "go test: it has ended"},
		{"another status", waits, 2, "go test: it has ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReport(io.Discard, false)
			before := r.counts()
			if err := r.read(strings.NewReader(events(t, tt.in...))); err != nil {
				t.Fatal(err)
			}
			var ended error
			if tt.status != 0 {
				ended = errors.New("it has ended")
			}
			r.finish(before, ended, tt.status)
			if got := strings.Join(r.failures, ""); !strings.Contains(got, tt.want) || r.hasFailed() != (tt.want != "") {
				t.Errorf("got failures\n%swant %q", got, tt.want)
			}
		})
	}
}

func TestAPackageIsSilentAfterAFailureOnly(t *testing.T) {
	message := output("TestA", "    a_test.go:3: perhaps a failure\n")
	other := event{Action: "output", Package: "x/q", Test: "TestB", Output: "    b_test.go:3: a log\n"}
	for _, tt := range []struct {
		name  string
		in    []event
		want  string
		looks int // if not 2
	}{
		{"a test runs", []event{begins("TestA"), output("TestA", "=== RUN   TestA\n")}, "", 0},
		{"a test has printed", []event{begins("TestA"), output("TestA", "no message\n")}, "", 0},
		{"a test has failed", []event{begins("TestA"), ends("TestA", "fail"), begins("TestB")}, "x/p", 0},
		{"a test has a message", []event{begins("TestA"), message}, "x/p", 6},
		{"a test with a message has ended", []event{begins("TestA"), message, ends("TestA", "pass")}, "", 0},
		{"its tests have ended", []event{begins("TestA"), message, ends("TestA", "fail"), ends("", "fail")}, "", 0},
		{"two packages", []event{begins("TestA"), message, other}, "x/p x/q", 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReport(io.Discard, false)
			if err := r.read(strings.NewReader(events(t, tt.in...))); err != nil {
				t.Fatal(err)
			}
			if tt.looks == 0 {
				tt.looks = 2
			}
			for look, want := range map[int]string{1: "", tt.looks: tt.want, tt.looks + 1: "", tt.looks + 29: "", tt.looks + 30: tt.want} {
				r.result("x/p").quiet, r.result("x/q").quiet = look-1, look-1
				got, _ := r.silent(2)
				slices.Sort(got)
				if strings.Join(got, " ") != want {
					t.Errorf("got %v at look %d, want %s", got, look, want)
				}
			}
		})
	}
}

func TestASilentPackageIsFirstAskedToEndAndThenMade(t *testing.T) {
	r := newReport(io.Discard, false)
	if err := r.read(strings.NewReader(events(t, begins("TestA"), output("TestA", "    a_test.go:3: a failure\n")))); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for range 100 {
		packages, again := r.silent(10)
		if len(packages) == 0 {
			continue
		}
		if asked++; again != (asked > 1) {
			t.Errorf("got again %v the %d. time", again, asked)
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times in 100 looks, want 3: at 30, 60 and 90", asked)
	}
}

func TestWhatAPackagePrintsEndsItsSilence(t *testing.T) {
	r := newReport(io.Discard, false)
	for range 5 {
		if err := r.read(strings.NewReader(events(t, begins("TestA"), output("TestA", "    a_test.go:3: a log\n")))); err != nil {
			t.Fatal(err)
		}
		if got, _ := r.silent(2); got != nil {
			t.Errorf("got %v, want none", got)
		}
	}
}
