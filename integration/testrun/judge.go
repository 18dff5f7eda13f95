package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gocurator/curator/framework/zktest/await"
)

// crashName is what the summary calls it.
const crashName = "the race detector's runtime died (golang.org/issue/78156)"

type verdict int

const (
	failed        verdict = iota // a test, or the package
	died                         // Go's runtime, and no test had failed before, but by a wait
	diedAndFailed                // both
	waited                       // tests failed, each by a wait
)

var (
	// With the race detector, timers in a synctest bubble can crash Go's runtime.
	crash   = regexp.MustCompile(`ThreadSanitizer: CHECK failed|ThreadSanitizer: nested bug|^SIGSEGV: segmentation violation|^fatal error: unexpected signal`)
	failure = regexp.MustCompile(`^ *--- FAIL|panic: |fatal error: |WARNING: DATA RACE`)
	// grave is what no wait that took too long explains, in the process of a test or in one that it started.
	grave = regexp.MustCompile(`(^|\s)(panic|fatal error|SIGQUIT): `)
	race  = regexp.MustCompile(`WARNING: DATA RACE`)
	// place is the beginning of what t.Error and t.Log print. Further lines are indented by eight.
	place = regexp.MustCompile(` {4}[\w.-]+\.go:\d+: `)
	// last is what a test binary prints at its end, if tests have failed and nothing else has happened.
	last = regexp.MustCompile(`^(FAIL\n|coverage: .*\n|exit status 1\n|FAIL\t.*\n)$`)
)

// message returns what t.Error or t.Log have printed on a line, without the place. The line may begin with what the
// test has printed in another way.
func message(line string) (text string, ok bool) {
	if strings.HasPrefix(line, "        ") {
		return "", false
	}
	at := place.FindStringIndex(line)
	if at == nil {
		return "", false
	}
	return line[at[1]:], true
}

// judge says why a package failed, and which of its tests to repeat because they failed by a wait.
func (p *result) judge() (v verdict, repeat []string) {
	repeat, others := p.waits()
	ended := slices.Contains(p.after, "FAIL\n") && len(p.running) == 0 // as a test binary ends that has not died
	switch crashed := !ended && slices.ContainsFunc(p.output, crash.MatchString); {
	case crashed && (others || p.hung || p.cut || p.says()):
		return diedAndFailed, nil
	case crashed:
		return died, repeat
	case others || len(repeat) == 0 || !ended || p.hung || p.cut || p.saysMore():
		return failed, nil
	}
	return waited, repeat
}

// waits returns which tests to repeat since they failed by waits: of tests within each other, the innermost that says
// so. Others is true if anything else has failed.
func (p *result) waits() (repeat []string, others bool) {
	others = slices.ContainsFunc(p.bad, func(line string) bool { return grave.MatchString(line) && !crash.MatchString(line) }) ||
		slices.ContainsFunc(p.output, race.MatchString) // in an example, say, which passes all the same
	for name, f := range p.failing {
		switch f.why {
		case saysNothing:
			others = others || !p.failsWithin(name) && !slices.ContainsFunc(f.output, crash.MatchString)
		case isWait:
			repeat = append(repeat, name)
		case isValue:
			others = true
		}
	}
	slices.Sort(repeat)
	return repeat, others
}

// failsWithin reports whether a test has failed inside of another one.
func (p *result) failsWithin(name string) bool {
	for other := range p.failing {
		if strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}

// says reports whether a test that has not ended has printed a message, which may be that of a failure.
func (p *result) says() bool {
	for _, t := range p.running {
		if slices.ContainsFunc(t.output, func(line string) bool { _, ok := message(line); return ok }) {
			return true
		}
	}
	return false
}

// saysMore reports whether a test binary has printed anything at its end but that tests have failed, or a child of a
// test has panicked in what other tests printed: tests in parallel share standard error. Go test does not print the
// status of a binary.
func (p *result) saysMore() bool {
	return slices.ContainsFunc(p.after, func(line string) bool { return !last.MatchString(line) }) ||
		slices.ContainsFunc(p.output, func(line string) bool { return strings.HasPrefix(line, "panic: ") })
}

// A reason is why a test failed. The greatest of several counts.
type reason int

const (
	saysNothing reason = iota // as a test in which another one failed
	isWait
	isValue
)

// byWait says why a test failed, by what it printed from its beginning to its end. What it printed before it waited
// too long is a log: await looks whether the test has failed. After that it may say what came of the wait, and nothing
// else.
func byWait(output []string) (why reason) {
	for _, line := range output {
		text, ok := message(line)
		if !ok {
			continue
		}
		isFirst, isLater := strings.HasPrefix(text, await.TimedOut), strings.HasPrefix(text, await.TooLong)
		switch {
		case isFirst:
			why = isWait
		case why == isWait && !isLater && !strings.Contains(text, await.TimedOut):
			return isValue
		case why != isWait && isLater:
			return isValue // the test had failed before, or it is in a bubble
		case why != isWait:
			why = isValue // unless a wait follows
		}
	}
	return why
}

// mostLines bounds what is repeated of one package, mostOfOne what is repeated of one message of several lines.
const mostLines, mostOfOne = 40, 10

// matters picks from the output of tests that failed the lines that say what failed: which tests, where, and why. If
// there are none, the last ones have to do.
func matters(output []string) []string {
	var all []string
	of := -1 // how many further lines of a message there have been
	for _, line := range output {
		_, begins := message(line)
		switch {
		case of >= 0 && strings.HasPrefix(line, "        "):
			if of++; of <= mostOfOne {
				all = append(all, "  "+line)
			}
		case begins:
			all = append(all, "  "+line)
			of = 0
		default:
			of = -1
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
	return all
}
