package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

type settings struct {
	run     *regexp.Regexp
	again   bool
	list    bool
	verbose bool
	timeout time.Duration
	found   string // a directory
}

func main() {
	s, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	missed, err := run(ctx, s, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
	}
	if err != nil || missed > 0 {
		os.Exit(1)
	}
}

func parse(args []string, errs io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("planted", flag.ContinueOnError)
	flags.SetOutput(errs)
	pattern := flags.String("only", "", "only bugs whose names match this `expression`")
	flags.BoolVar(&s.again, "again", false, "also bugs that have a result: first the test that noticed it")
	flags.BoolVar(&s.list, "list", false, "print the bugs and the promises that they break, and end")
	flags.BoolVar(&s.verbose, "v", false, "print what go test prints")
	flags.DurationVar(&s.timeout, "timeout", 10*time.Minute, "for the tests of one package")
	flags.StringVar(&s.found, "found", "", "the `directory` of results (default integration/planted/found)")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	var err error
	if s.run, err = regexp.Compile(*pattern); err != nil {
		_, _ = fmt.Fprintln(errs, "planted: -only:", err)
		return s, err
	}
	if flags.NArg() > 0 {
		err = fmt.Errorf("planted: unexpected argument %q", flags.Arg(0))
		_, _ = fmt.Fprintln(errs, err)
	}
	return s, err
}

// run prints a line for each bug, and returns how many were not found.
func run(ctx context.Context, s settings, out io.Writer) (missed int, err error) {
	root, err := repositoryRoot()
	if err != nil {
		return 0, err
	}
	home := filepath.Join(root, "integration", "planted")
	if s.found == "" {
		s.found = filepath.Join(home, "found")
	}
	bugs, err := readBugs(filepath.Join(home, "bugs"))
	if err != nil {
		return 0, err
	}
	results, err := readResults(s.found)
	if err != nil {
		return 0, err
	}
	r := runner{root: root, timeout: s.timeout, log: func(string, ...any) {}}
	if s.verbose {
		r.log = func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	}
	if !s.list {
		if r.graph, err = readGraph(root); err != nil {
			return 0, err
		}
	}
	for _, b := range bugs {
		last, known := results[b.name]
		switch {
		case !s.run.MatchString(b.name):
			continue
		case s.list:
			_, _ = fmt.Fprintf(out, "%s: %s\n\tbreaks: %s\n", b.name, b.about, b.breaks)
			continue
		case known && !s.again:
			continue
		}
		got, err := r.result(ctx, b, last)
		if err != nil {
			return missed, err
		}
		_, _ = fmt.Fprintln(out, got)
		if got.verdict == "survived" || got.verdict == "hung" {
			missed++
		}
		results[b.name] = got
		if err := writeResults(s.found, b.area(), bugs, results); err != nil {
			return missed, err
		}
	}
	return missed, nil
}

func (r runner) result(ctx context.Context, b bug, last result) (result, error) {
	if b.equivalent != "" {
		return result{bug: b.name, verdict: "equivalent"}, nil
	}
	return r.try(ctx, b, last)
}

// repositoryRoot is the directory above the module integration, in which this command runs.
func repositoryRoot() (string, error) {
	file, err := exec.Command("go", "env", "GOMOD").Output()
	return filepath.Dir(filepath.Dir(strings.TrimSpace(string(file)))), err
}
