// Testrun reads what go test -json writes, prints it as go test would without -json, and sums it up in files for
// integration/run.
//
//	go test -json ./... | testrun [-v] -dir directory
//
// In the directory it appends to these files, none of which need exist:
//
//	failures   the lines that matter, of each package that failed
//	crashed    packages in which no test failed, but Go's runtime died, one on each line; they can be tried again
//	slowest    seconds, package and name of each test, one on each line
//
// Its status is 1 if anything failed.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	verbose := flag.Bool("v", false, "print the output of tests that pass, too")
	dir := flag.String("dir", ".", "where the files are")
	flag.Parse()
	r := newReport(os.Stdout, *verbose)
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(1)
	}
	if err := r.save(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(1)
	}
	if r.failed {
		os.Exit(1)
	}
}

// An event is a line of go test -json; see go doc test2json.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a build
	Test       string
	Elapsed    float64
	Output     string
}

// A report is what has been read so far.
type report struct {
	out      io.Writer
	verbose  bool
	packages map[string]*result

	failed   bool
	failures []string
	crashed  []string
	slowest  []string
}

// A result is what is known of one package that has not ended.
type result struct {
	tests  map[string][]string // the output of tests that run
	order  []string            // their names
	output []string            // all of it
	seed   string              // of -shuffle
	bad    []string            // that of tests that failed or never ended, and of none
}

func newReport(out io.Writer, verbose bool) *report {
	return &report{out: out, verbose: verbose, packages: map[string]*result{}}
}

// read takes all events. What is no event is printed: the go command writes some of its errors as text.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				r.print(string(line))
			} else {
				r.take(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) take(e event) {
	switch {
	case e.Action == "build-output":
		r.print(e.Output)
		r.failures = append(r.failures, e.Output)
	case e.Action == "build-fail":
		r.failed = true
	case e.Package == "":
	case e.Action == "output":
		r.output(e)
	case e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
		r.testEnds(e)
	case e.Action == "fail":
		r.packageFails(e.Package)
	case e.Action == "pass" || e.Action == "skip":
		delete(r.packages, e.Package)
	}
}

func (r *report) of(name string) *result {
	p := r.packages[name]
	if p == nil {
		p = &result{tests: map[string][]string{}}
		r.packages[name] = p
	}
	return p
}

func (r *report) output(e event) {
	p := r.of(e.Package)
	p.output = append(p.output, e.Output)
	if seed, ok := strings.CutPrefix(e.Output, "-test.shuffle "); ok {
		p.seed = " (again in the same order: -shuffle=" + strings.TrimSpace(seed) + ")"
	}
	switch {
	case r.verbose:
		r.print(e.Output)
	case e.Test != "":
	case worthPrinting(e.Output):
		r.print(e.Output)
	}
	switch {
	case e.Test == "":
		p.bad = append(p.bad, e.Output)
	case !strings.HasPrefix(e.Output, "=== "):
		if _, ok := p.tests[e.Test]; !ok {
			p.order = append(p.order, e.Test)
		}
		p.tests[e.Test] = append(p.tests[e.Test], e.Output)
	}
}

// worthPrinting leaves out what go test without -v does not print either.
func worthPrinting(line string) bool {
	return line != "PASS\n" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "-test.shuffle")
}

func (r *report) testEnds(e event) {
	p := r.of(e.Package)
	if e.Action == "fail" {
		r.fails(p, e.Test)
	}
	delete(p.tests, e.Test)
	if e.Action != "skip" && !strings.Contains(e.Test, "/") {
		r.slowest = append(r.slowest, fmt.Sprintf("%.2f %s %s\n", e.Elapsed, e.Package, e.Test))
	}
}

// packageFails prints also the output of tests that never ended.
func (r *report) packageFails(name string) {
	r.failed = true
	p := r.of(name)
	for _, test := range p.order {
		r.fails(p, test)
	}
	verdict := judge(p.output)
	if verdict == died {
		r.crashed = append(r.crashed, name+"\n")
	} else {
		r.failures = append(r.failures, matters(name+p.seed, p.bad)...)
	}
	if verdict == diedAndFailed {
		r.failures = append(r.failures, "  and "+crashName+"\n")
	}
	delete(r.packages, name)
}

func (r *report) fails(p *result, test string) {
	if !r.verbose {
		r.print(p.tests[test]...)
	}
	p.bad = append(p.bad, p.tests[test]...)
}

func (r *report) print(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(r.out, line)
	}
}

func (r *report) save(dir string) error {
	for name, lines := range map[string][]string{"failures": r.failures, "crashed": r.crashed, "slowest": r.slowest} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString(strings.Join(lines, ""))
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}
