package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// An event is a line of go test -json; see go doc test2json.
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string // the package, in events of builds
	Test       string
	Elapsed    float64
	Output     string
}

// A report is what has been read so far.
type report struct {
	out     io.Writer
	verbose bool

	mu       sync.Mutex
	packages map[string]*result // those that have not ended
	passed   map[testName]int   // how often
	recent   []span             // when tests ran that have ended in the last minute

	broken   bool // something failed that has no lines in failures
	failures []string
	retry    []string // packages in which Go's runtime died
	waited   []entry  // tests to repeat
	repeated []entry  // tests that passed only then
	crashLog []string // the crashes of all rounds
	slowest  []string
	stalls   []stall
}

func newReport(out io.Writer, verbose bool) *report {
	return &report{out: out, verbose: verbose, packages: map[string]*result{}, passed: map[testName]int{}}
}

func (r *report) hasFailed() bool { return r.broken || len(r.failures) > 0 }

// counts are how much is known to have failed.
type counts struct {
	broken                  bool
	failures, retry, waited int
}

func (r *report) counts() counts {
	return counts{r.broken, len(r.failures), len(r.retry), len(r.waited)}
}

// read takes all events. What is no event is printed: the go command writes some of its errors as text.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) line(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var e event
	if json.Unmarshal(line, &e) != nil {
		r.print(string(line))
		return
	}
	r.take(e)
}

func (r *report) take(e event) {
	switch e.Action {
	case "build-output":
		r.print(e.Output)
		r.failures = append(r.failures, e.Output)
	case "build-fail":
		r.broken = true
	}
	if e.Package == "" {
		return
	}
	p := r.result(e.Package)
	p.quiet = 0
	switch ends := e.Action == "pass" || e.Action == "fail" || e.Action == "skip"; {
	case e.Action == "output":
		r.output(p, e)
	case ends && e.Test != "":
		r.testEnds(p, e)
	case ends:
		if e.Action == "fail" {
			r.packageFails(e.Package, p)
		}
		delete(r.packages, e.Package)
	default:
		p.changes(e)
	}
}

func (r *report) result(name string) *result {
	p := r.packages[name]
	if p == nil {
		p = &result{running: map[string]*running{}, failing: map[string]*failing{}}
		r.packages[name] = p
	}
	return p
}

func (r *report) output(p *result, e event) {
	p.takes(e.Test, e.Output)
	if r.verbose || e.Test == "" && worthPrinting(e.Output) {
		r.print(e.Output)
	}
}

// worthPrinting leaves out what go test without -v does not print either.
func worthPrinting(line string) bool {
	return line != "PASS\n" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "-test.shuffle")
}

func (r *report) testEnds(p *result, e event) {
	name := testName{e.Package, e.Test}
	begun, output := p.ends(e.Test, e.Action == "fail")
	switch e.Action {
	case "fail":
		r.printFailed(output)
		p.spans = append(p.spans, span{name, begun, e.Time})
	case "pass":
		r.passed[name]++
	}
	if strings.Contains(e.Test, "/") {
		return
	}
	r.recent = slices.DeleteFunc(r.recent, func(s span) bool { return e.Time.Sub(s.ended) > time.Minute })
	r.recent = append(r.recent, span{name, begun, e.Time})
	if e.Action != "skip" {
		r.slowest = append(r.slowest, fmt.Sprintf("%.2f %s %s\n", e.Elapsed, e.Package, e.Test))
	}
}

// packageFails decides what the failure of a package means. It prints also the output of tests that never ended.
func (r *report) packageFails(name string, p *result) {
	for _, output := range p.neverEnded() {
		r.printFailed(output)
	}
	stalls := r.stallLines(name, p)
	r.print(stalls...)
	verdict, repeat := p.judge()
	for _, test := range repeat {
		output := slices.Concat(p.failing[test].output, stalls)
		r.waited = append(r.waited, entry{name: testName{name, test}, output: output})
	}
	switch verdict {
	case died:
		r.retry = append(r.retry, name)
	case failed, diedAndFailed:
		r.failures = slices.Concat(r.failures, []string{"FAIL\t" + name + p.seed + "\n"}, p.why(), stalls)
		if verdict == diedAndFailed {
			r.failures = append(r.failures, "  and "+crashName+"\n")
		}
	case waited:
	}
}

// finish fails the packages that have not ended when go test has, and go test itself if nothing else says why it
// failed.
func (r *report) finish(before counts, ended error, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, p := range r.packages {
		p.cut = true
		r.packageFails(name, p)
		delete(r.packages, name)
	}
	if ended != nil && (status != 1 || r.counts() == before) {
		r.print(fmt.Sprintf("go test: %v\n", ended))
		r.failures = append(r.failures, fmt.Sprintf("FAIL\tgo test: %v\n", ended))
	}
}

func (r *report) printFailed(output []string) {
	if !r.verbose {
		r.print(output...)
	}
}

// print needs mu.
func (r *report) print(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(r.out, line)
	}
}

// say prints a line of testrun itself.
func (r *report) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(fmt.Sprintf(format, args...))
}

// silent counts a look at all packages, and returns those that have printed nothing for so many after a failure, or for
// three times as many after a message of a test that has not ended, which may be one. It returns them once more after
// each further 30 looks.
func (r *report) silent(looks int) (packages []string, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, p := range r.packages {
		p.quiet++
		late := p.quiet - looks*p.patience()
		if p.patience() == 0 || late < 0 || late%30 != 0 {
			continue
		}
		again = again || p.hung
		p.hung = true
		packages = append(packages, name)
		r.print(fmt.Sprintf("%s has printed nothing for too long after a failure, and is ended\n", name))
	}
	return packages, again
}

func (r *report) save(dir string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var repeated, stalls []string
	for _, e := range r.repeated {
		repeated = append(repeated, e.text())
	}
	for _, s := range r.stalls {
		stalls = append(stalls, fmt.Sprintf("%.1f %s %s\n", s.d.Seconds(), s.from.Format(time.TimeOnly), strings.Join(s.tests, ", ")))
	}
	for name, lines := range map[string][]string{
		"failures": r.failures, "repeated": repeated, "crashed": r.crashLog, "slowest": r.slowest, "stalls": stalls,
	} {
		if err := appendTo(filepath.Join(dir, name), strings.Join(lines, "")); err != nil {
			return err
		}
	}
	return nil
}
