package main

import (
	"fmt"
	"regexp"
	"strings"
)

// crashName is what the summary calls it.
const crashName = "the race detector's runtime died (golang.org/issue/78156)"

type verdict int

const (
	failed        verdict = iota // a test, or the package
	died                         // Go's runtime, and no test failed before
	diedAndFailed                // both
)

var (
	// With the race detector, timers in a synctest bubble can crash Go's runtime.
	crash = regexp.MustCompile(`ThreadSanitizer: CHECK failed|ThreadSanitizer: nested bug|` +
		`^SIGSEGV: segmentation violation|^fatal error: unexpected signal`)
	failure = regexp.MustCompile(`^ *--- FAIL|^panic: |WARNING: DATA RACE`)
	// place is a line of t.Error, and names a file: it says what failed.
	place = regexp.MustCompile(`^ +[\w.-]+\.go:\d+: `)
)

// judge says what a package failed of, from all of its output.
func judge(output []string) verdict {
	crashes, failures := false, false
	for _, line := range output {
		crashes = crashes || crash.MatchString(line)
		failures = failures || failure.MatchString(line)
	}
	switch {
	case crashes && failures:
		return diedAndFailed
	case crashes:
		return died
	}
	return failed
}

// mostLines bounds what is repeated of one package, mostOfOne what is repeated of one message of several lines.
const mostLines, mostOfOne = 40, 10

// matters picks from the output of tests that failed the lines that say what failed: which tests, where, and why. If
// there are none, the last ones have to do.
func matters(name string, output []string) []string {
	var all []string
	deep, of := -1, 0 // how far further lines of a message are indented, and how many there have been
	for _, line := range output {
		switch indent := len(line) - len(strings.TrimLeft(line, " ")); {
		case deep >= 0 && indent >= deep:
			if of++; of <= mostOfOne {
				all = append(all, "  "+line)
			}
		case place.MatchString(line):
			all = append(all, "  "+line)
			deep, of = indent+4, 0
		default:
			deep = -1
			if failure.MatchString(line) {
				all = append(all, "  "+line)
			}
		}
	}
	if len(all) == 0 {
		for _, line := range output[max(0, len(output)-mostLines):] {
			if !strings.HasPrefix(line, "=== ") {
				all = append(all, "  "+line)
			}
		}
	}
	if more := len(all) - mostLines; more > 0 {
		all = append(all[:mostLines:mostLines], fmt.Sprintf("  … and %d lines more\n", more))
	}
	return append([]string{"FAIL\t" + name + "\n"}, all...)
}
