package main

import (
	"slices"
	"strings"
	"testing"
)

// fails are the events of a test that fails.
func fails(test string, lines ...string) []event {
	all := []event{begins(test)}
	for _, line := range lines {
		all = append(all, output(test, line))
	}
	return append(all, ends(test, "fail"))
}

func TestATestIsRepeatedOnlyIfItWaitedTooLongAndNothingElse(t *testing.T) {
	const (
		wait  = "    a_test.go:3: timed out waiting for b\n"
		value = "    a_test.go:4: got 1, want 2\n"
		again = "    a_test.go:5: waited too long for c\n"
		log   = "    a_test.go:2: seed 7\n"
		died1 = "SIGSEGV: segmentation violation\n"
		died2 = "fatal error: unexpected signal during runtime execution\n"
	)
	fail := []event{output("", "FAIL\n")}
	for _, tt := range []struct {
		name   string
		in     []event
		want   verdict
		repeat string
	}{
		{"a wait", slices.Concat(fails("TestA", wait), fail), waited, "TestA"},
		{"two tests", slices.Concat(fails("TestB", wait), fails("TestA", wait), fail), waited, "TestA TestB"},
		{"a value", slices.Concat(fails("TestA", value), fail), failed, ""},
		{"a wait after a log", slices.Concat(fails("TestA", log, wait), fail), waited, "TestA"},
		{"a value after a wait", slices.Concat(fails("TestA", wait, value), fail), failed, ""},
		{"a wait and a value in two tests", slices.Concat(fails("TestA", wait), fails("TestB", value), fail), failed, ""},
		{"what came of the wait", slices.Concat(fails("TestA", wait, "    a_test.go:5: acquire: timed out waiting for b\n"), fail), waited, "TestA"},
		{"a value that names a wait", slices.Concat(fails("TestA", "    a_test.go:5: got timed out waiting for b\n"), fail), failed, ""},
		{"a wait after a wait", slices.Concat(fails("TestA", wait, again, wait), fail), waited, "TestA"},
		{"a wait after a failure", slices.Concat(fails("TestA", again), fail), failed, ""},
		{"a wait after a failure, and its cause", slices.Concat(fails("TestA", value, again, wait), fail), failed, ""},
		{"further lines and prints", slices.Concat(fails("TestA", wait, "        more\n", "a print\n", "--- FAIL: TestA (1s)\n"), fail), waited, "TestA"},
		{"a wait in the further lines of a value", slices.Concat(fails("TestA", value, "            a_test.go:9: timed out waiting for b\n"), fail), failed, ""},
		{"a message in the further lines of a wait", slices.Concat(fails("TestA", wait, "        main.go:9: connected\n"), fail), waited, "TestA"},
		{"a value behind a print", slices.Concat(fails("TestA", wait, "...    a_test.go:9: got 1\n"), fail), failed, ""},
		{"a value behind a print that ends in a blank", slices.Concat(fails("TestA", wait, "progress:     a_test.go:9: got 1\n"), fail), failed, ""},
		{"a value behind a print of blanks", slices.Concat(fails("TestA", wait, "      a_test.go:9: got 1\n"), fail), failed, ""},
		{"a wait behind a print", slices.Concat(fails("TestA", "...    a_test.go:9: timed out waiting for b\n"), fail), waited, "TestA"},
		{"a test that says nothing", slices.Concat(fails("TestA", "--- FAIL: TestA (1s)\n"), fail), failed, ""},
		{"a test within", slices.Concat(fails("TestA/b", wait), fails("TestA"), fail), waited, "TestA/b"},
		{"tests within", slices.Concat(fails("TestA/b/c", wait), fails("TestA/b"), fails("TestA/d", wait), fails("TestA"), fail), waited, "TestA/b/c TestA/d"},
		{"a test around one", slices.Concat(fails("TestA/b", wait), fails("TestA", value), fail), failed, ""},
		{"a name that only begins alike", slices.Concat(fails("TestAb", wait), fails("TestA"), fail), failed, ""},
		{"a value, and a wait the next time", slices.Concat(fails("TestA", value), fails("TestA", wait), fail), failed, ""},
		{"a wait, and a value the next time", slices.Concat(fails("TestA", wait), fails("TestA", value), fail), failed, ""},
		{"a race", slices.Concat(fails("TestA", "WARNING: DATA RACE\n", wait), fail), failed, ""},
		{"a race outside of tests", slices.Concat([]event{output("", "WARNING: DATA RACE\n")}, fails("TestA", wait), fail), failed, ""},
		{"a race that the test reports", slices.Concat(fails("TestA", wait, "    testing.go:1712: race detected during execution of test\n"), fail), failed, ""},
		{"a panic", slices.Concat(fails("TestA", wait, "panic: no\n"), fail), failed, ""},
		{"a panic behind a print", slices.Concat(fails("TestA", wait, "... panic: no\n"), fail), failed, ""},
		{"a panic in a process of the test", slices.Concat(fails("TestA", wait, "    panic: no\n"), fail), failed, ""},
		{"a process of the test was killed", slices.Concat(fails("TestA", wait, "    zklock: the command was ended by a signal: killed\n"), fail), waited, "TestA"},
		{"a panic in a test that passes", slices.Concat([]event{begins("TestB"), output("TestB", "panic: as it should\n"), ends("TestB", "pass")}, fails("TestA", wait), fail), failed, ""},
		{"a race in a test that passes", slices.Concat([]event{begins("ExampleB"), output("ExampleB", "WARNING: DATA RACE\n"), ends("ExampleB", "pass")}, fails("TestA", wait), fail), failed, ""},
		{"the binary says more at its end", slices.Concat(fails("TestA", wait), fail, []event{output("", "leak: 3 goroutines are left\n")}), failed, ""},
		{"the binary ends between two tests", fails("TestA", wait), failed, ""},
		{"the binary has measured coverage", slices.Concat(fails("TestA", wait), fail, []event{output("", "coverage: 7% of statements\n")}), waited, "TestA"},
		{"a print before the tests", slices.Concat([]event{output("", "hello\n")}, fails("TestA", wait), fail), waited, "TestA"},
		{"a signal", slices.Concat(fails("TestA", wait), []event{output("", "signal: killed\n")}), failed, ""},
		{"a test never ends", slices.Concat(fails("TestA", wait), []event{begins("TestB")}, fail), failed, ""},
		{"a bubble hangs", slices.Concat(fails("TestA", "panic: zktest: TestA hangs: 30s of processor time [recovered]\n")), failed, ""},
		{"no test fails", []event{begins("TestA"), ends("TestA", "pass"), output("", "FAIL\n")}, failed, ""},
		{"the runtime dies", []event{begins("TestA"), output("TestA", died1)}, died, ""},
		{"the runtime dies after a wait", slices.Concat(fails("TestA", wait), []event{begins("TestB"), output("TestB", died2)}), died, "TestA"},
		{"the runtime dies after a value", slices.Concat(fails("TestA", value), []event{begins("TestB"), output("TestB", died2)}), diedAndFailed, ""},
		{"the runtime dies in a test with a message", []event{begins("TestB"), output("TestB", value), output("TestB", died2)}, diedAndFailed, ""},
		{"the runtime dies of what a test did", []event{begins("TestB"), output("TestB", "fatal error: concurrent map writes\n"), output("TestB", died1)}, diedAndFailed, ""},
		{"the runtime of a child dies", slices.Concat([]event{begins("TestB"), output("TestB", died1), ends("TestB", "pass")}, fails("TestA", value), fail), failed, ""},
		{"the runtime of a child dies, and the binary says more", slices.Concat([]event{begins("TestB"), output("TestB", died1), ends("TestB", "pass"), output("", "FAIL\n"), output("", "leak\n")}), failed, ""},
		{"the runtime dies after a wait and a race", slices.Concat(fails("TestA", "WARNING: DATA RACE\n", wait), []event{begins("TestB"), output("TestB", died1)}), diedAndFailed, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReport(nil, true)
			r.out = new(strings.Builder)
			if err := r.read(strings.NewReader(events(t, append(tt.in, output("", "FAIL\tx/p\t1.6s\n"))...))); err != nil {
				t.Fatal(err)
			}
			p := r.packages["x/p"]
			p.neverEnded()
			got, repeat := p.judge()
			if got != tt.want || strings.Join(repeat, " ") != tt.repeat {
				t.Errorf("got verdict %d, repeat %v, want %d, %s", got, repeat, tt.want, tt.repeat)
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
	got := matters(output)
	if want := 1 + mostOfOne + 1; len(got) != want || got[want-1] != "      b_test.go:4: the next message\n" {
		t.Errorf("got %d lines, want %d:\n%s", len(got), want, strings.Join(got, ""))
	}
}
