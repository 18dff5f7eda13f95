package main

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// A result is what is known of one package that has not ended.
type result struct {
	running map[string]*running // tests
	failing map[string]*failing // tests
	spans   []span              // when those ran
	output  []string            // all of it
	bad     []string            // the output of tests that failed, and the output of no test
	after   []string            // what came after the last end of a test
	seed    string              // the seed of -shuffle
	quiet   int                 // looks since anything was printed
	hung    bool
	cut     bool // go test has ended before it
}

// A running is a test that has not ended.
type running struct {
	begun  time.Time
	paused bool // it waits for its turn among parallel tests
	output []string
}

// A failing is a test that has failed, perhaps more than once.
type failing struct {
	why    reason
	output []string
}

// changes takes the event of a test that begins, or waits for its turn and goes on.
func (p *result) changes(e event) {
	switch t := p.running[e.Test]; {
	case e.Action == "run":
		p.running[e.Test] = &running{begun: e.Time}
	case t != nil && e.Action == "pause":
		t.paused = true
	case t != nil && e.Action == "cont":
		t.begun, t.paused = e.Time, false // what it met while others ran is theirs
	}
}

// takes takes a line of output, of a test or of none.
func (p *result) takes(test, line string) {
	p.output = append(p.output, line)
	if seed, ok := strings.CutPrefix(line, "-test.shuffle "); ok {
		p.seed = " (again in the same order: -shuffle=" + strings.TrimSpace(seed) + ")"
	}
	switch {
	case test == "":
		p.bad, p.after = append(p.bad, line), append(p.after, line)
	case !strings.HasPrefix(line, "=== "):
		if p.running[test] == nil {
			p.running[test] = &running{}
		}
		p.running[test].output = append(p.running[test].output, line)
	}
}

// ends takes the end of a test, and returns when it began and what it printed.
func (p *result) ends(test string, fails bool) (begun time.Time, output []string) {
	if t := p.running[test]; t != nil {
		begun, output = t.begun, t.output
	}
	delete(p.running, test)
	p.after = nil
	if fails {
		f := p.failing[test]
		if f == nil {
			f = &failing{}
			p.failing[test] = f
		}
		f.why, f.output = max(f.why, byWait(output)), append(f.output, output...)
		p.bad = append(p.bad, output...)
	}
	return begun, output
}

// neverEnded returns the output of the tests that have not ended, and counts it as bad.
func (p *result) neverEnded() (outputs [][]string) {
	for _, test := range slices.Sorted(maps.Keys(p.running)) {
		outputs = append(outputs, p.running[test].output)
		p.bad = append(p.bad, p.running[test].output...)
	}
	return outputs
}

// patience is how many times longer a package may be silent than after a failure; 0 is for ever. A message of a test
// that has not ended may be a log.
func (p *result) patience() int {
	switch {
	case len(p.failing) > 0:
		return 1
	case p.says():
		return 3
	}
	return 0
}

// why returns the lines that say why a package failed.
func (p *result) why() []string {
	lines := matters(p.bad)
	for _, test := range slices.Sorted(maps.Keys(p.running)) {
		lines = append(lines, "  "+test+" never ended\n")
	}
	switch {
	case p.hung:
		lines = append(lines, "  the package printed nothing for too long after that, and was ended\n")
	case p.cut:
		lines = append(lines, "  go test has ended before the package\n")
	}
	return lines
}
