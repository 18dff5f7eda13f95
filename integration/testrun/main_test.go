package main

import (
	"encoding/json"
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

func output(test, text string) event { return event{Action: "output", Test: test, Output: text} }
func ends(test, how string) event    { return event{Action: how, Test: test, Elapsed: 1.5} }

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		name              string
		in                []event
		printed           string
		failures, crashed string
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
				output("TestA/b", "        b_test.go:5: deeper\n"), output("TestA/b", "            3\n"),
				ends("TestA/b", "fail"), ends("TestA", "fail"), ends("", "fail"),
			},
			printed: "        b_test.go:5: deeper\n            3\n    a_test.go:3: got\n        1\n          2\n    a_test.go:4: got\n" +
				"        more\na print\n        which is no message\n",
			failures: "FAIL\tx/p\n          b_test.go:5: deeper\n              3\n      a_test.go:3: got\n          1\n            2\n" +
				"      a_test.go:4: got\n          more\n", failed: true,
		},
		{
			name: "the runtime dies",
			in: []event{
				output("TestA", "SIGSEGV: segmentation violation\n"), ends("TestA", "fail"), output("", "FAIL\tx/p\t1.6s\n"), ends("", "fail"),
			},
			printed: "SIGSEGV: segmentation violation\nFAIL\tx/p\t1.6s\n", crashed: "x/p\n", failed: true,
		},
		{
			name: "the runtime dies after a failure",
			in: []event{
				output("TestA", "--- FAIL: TestA (0.0s)\n"), ends("TestA", "fail"),
				output("TestB", "ThreadSanitizer: CHECK failed: x.cpp\n"), output("", "FAIL\tx/p\t1.6s\n"), ends("", "fail"),
			},
			printed:  "--- FAIL: TestA (0.0s)\nFAIL\tx/p\t1.6s\nThreadSanitizer: CHECK failed: x.cpp\n",
			failures: "FAIL\tx/p\n  --- FAIL: TestA (0.0s)\n  and " + crashName + "\n", failed: true,
		},
		{
			name: "a test panics on an address", // which is no crash of the runtime
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
				"crashed":  {strings.Join(r.crashed, ""), tt.crashed},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s: got\n%swant\n%s", what, pair[0], pair[1])
				}
			}
			if r.failed != tt.failed {
				t.Errorf("failed is %v, want %v", r.failed, tt.failed)
			}
		})
	}
}

func TestALongMessageIsRepeatedInPart(t *testing.T) {
	output := []string{"    a_test.go:3: the tree is\n"}
	for range 3 * mostOfOne {
		output = append(output, "        a line\n")
	}
	output = append(output, "    b_test.go:4: the next message\n")
	got := matters("x/p", output)
	if want := 1 + 1 + mostOfOne + 1; len(got) != want || got[want-1] != "      b_test.go:4: the next message\n" {
		t.Errorf("got %d lines, want %d:\n%s", len(got), want, strings.Join(got, ""))
	}
}
