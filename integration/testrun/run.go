package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A runner runs tests, and those again that may have failed by chance.
type runner struct {
	report   *report
	test     func(ctx context.Context, r *report, args, env []string) error // runs go test, whose events r reads
	packages []string
	flags    []string            // for go test, and for the tests
	most     int                 // how many tests are repeated
	list     string              // the file
	listed   map[testName]string // the tests in it, and since when
	now      func() time.Time
}

const (
	triesOfCrashed = 3
	repeats        = 3
)

func (r *runner) run(ctx context.Context) error {
	if err := r.test(ctx, r.report, slices.Concat(r.packages, r.flags), nil); err != nil {
		return err
	}
	for try := 1; try <= triesOfCrashed && len(r.report.retry) > 0; try++ {
		if err := r.tryCrashed(ctx, try); err != nil {
			return err
		}
	}
	for _, name := range r.report.retry {
		r.report.failures = append(r.report.failures, fmt.Sprintf("FAIL\t%s\n  %s, %d times\n", name, crashName, 1+triesOfCrashed))
	}
	return r.repeatWaited(ctx)
}

// tryCrashed runs the packages again in which Go's runtime died.
func (r *runner) tryCrashed(ctx context.Context, try int) error {
	again := r.report.retry
	r.report.retry = nil
	r.report.say("%s; once more, %d of %d: %s\n", crashName, try, triesOfCrashed, strings.Join(again, " "))
	for _, name := range again {
		r.report.crashLog = append(r.report.crashLog, name+"\n")
	}
	return r.test(ctx, r.report, slices.Concat(again, r.flags), []string{"GOMAXPROCS=1"})
}

// repeatWaited repeats the tests that failed by a wait, alone, and says what came of it. A test can have failed twice,
// in a package that was tried again.
func (r *runner) repeatWaited(ctx context.Context) error {
	var all []entry
	for _, first := range r.report.waited {
		if !slices.ContainsFunc(all, func(e entry) bool { return e.name == first.name }) {
			all = append(all, first)
		}
	}
	r.report.waited = nil
	var ended error
	for _, first := range all {
		why, err := "no repeats: the run was ended", ctx.Err()
		if err == nil {
			if why, err = r.repeat(ctx, first, len(all)); err != nil {
				why = fmt.Sprintf("no repeats: %v", err)
			}
		}
		ended = cmp.Or(ended, err)
		if why == "" {
			first.date = r.now().Format(time.DateOnly)
			r.report.repeated = append(r.report.repeated, first)
			continue
		}
		r.report.failures = slices.Concat(r.report.failures, []string{"FAIL\t" + first.name.pkg + "\n"}, matters(first.output), []string{"  " + why + "\n"})
	}
	return errors.Join(ended, enter(r.list, r.report.repeated))
}

// listedAs returns since when the list has a test, or one that is around it or within it.
func (r *runner) listedAs(name testName) (date string, ok bool) {
	for other, date := range r.listed {
		within := strings.HasPrefix(name.test+"/", other.test+"/") || strings.HasPrefix(other.test+"/", name.test+"/")
		if other.pkg == name.pkg && within {
			return date, true
		}
	}
	return "", false
}

// repeat repeats one of so many tests, and returns why its failure counts, or "".
func (r *runner) repeat(ctx context.Context, first entry, of int) (why string, err error) {
	date, listed := r.listedAs(first.name)
	flags, all := others(r.flags)
	switch {
	case listed:
		return fmt.Sprintf("no repeats: %s lists it since %s", filepath.Base(r.list), date), nil
	case of > r.most:
		return fmt.Sprintf("no repeats: %d tests have failed by a wait, which are too many to be chance", of), nil
	case !all:
		return "no repeats: with -failfast other tests have not run", nil
	}
	report := r.report
	report.say("%s waited too long: alone, %d times\n", first.name, repeats)
	before, passed := report.counts(), report.passed[first.name]
	args := append([]string{first.name.pkg, "-run", pattern(first.name.test), "-count", strconv.Itoa(repeats)}, flags...)
	if err := r.test(ctx, report, args, nil); err != nil {
		return "", err
	}
	passed = report.passed[first.name] - passed
	if passed == repeats && report.counts() == before {
		return "", nil
	}
	lines := slices.Clone(report.failures[before.failures:])
	for _, again := range report.waited {
		lines = append(lines, matters(again.output)...)
	}
	for _, name := range report.retry {
		lines = append(lines, fmt.Sprintf("  %s: %s\n", name, crashName))
	}
	report.failures, report.waited, report.retry = report.failures[:before.failures], nil, nil
	return fmt.Sprintf("alone, it passed %d of %d repeats\n  %s", passed, repeats, strings.Join(lines, "  ")), nil
}

// pattern matches a test, and the tests around it, by name.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// others returns the flags without those that pick tests or do something else beside them. All is false if they let go
// test end before all tests have run. What -skip names was skipped before, and is skipped again.
func others(flags []string) (rest []string, all bool) {
	own := []string{"run", "count", "cpu", "bench", "fuzz", "coverprofile"}
	all = true
	for i := 0; i < len(flags); i++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(flags[i], "-"), "=")
		name = strings.TrimPrefix(name, "test.")
		switch isFlag := strings.HasPrefix(flags[i], "-"); {
		case isFlag && slices.Contains(own, name):
			if !hasValue {
				i++
			}
		case isFlag && name == "failfast":
			all = false
		default:
			rest = append(rest, flags[i])
		}
	}
	return rest, all
}

// goTest returns what runs go test here, in its own process, until ctx ends. A silence of 0 is never too long.
func goTest(dir string, silence time.Duration) func(ctx context.Context, r *report, args, env []string) error {
	return func(ctx context.Context, r *report, args, env []string) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		processes, err := registry(dir)
		if err != nil {
			return err
		}
		if strings.Contains(self+processes, "'") {
			return fmt.Errorf("go test -exec takes no path with an apostrophe: %s, %s", self, processes)
		}
		cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-exec", fmt.Sprintf("'%s' %s '%s'", self, registering, processes)}, args...)...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		cmd.Stderr = cmd.Stdout
		cmd.Cancel = func() error {
			send(processes, os.Interrupt, func(string) bool { return true }) // go test waits for them
			return cmd.Process.Signal(os.Interrupt)
		}
		cmd.WaitDelay = 10 * time.Second
		before := r.counts()
		if err := cmd.Start(); err != nil {
			return err
		}
		watching, stop := context.WithCancel(ctx)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			if silence > 0 {
				endSilent(watching, r, processes, silence)
			}
		}()
		err = r.read(out)
		ended := cmd.Wait()
		stop()
		<-stopped
		send(processes, os.Kill, func(string) bool { return cmd.ProcessState.ExitCode() < 0 }) // go test was killed
		r.finish(before, ended, cmd.ProcessState.ExitCode())
		return errors.Join(err, ctx.Err())
	}
}
