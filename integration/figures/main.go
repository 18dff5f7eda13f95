// Figures measures how much there is to read, to test and to download, and compares it with the limits in
// integration/budget.txt.
//
//	go run -C integration/figures .                  all figures with their limits; fails if one is above
//	go run -C integration/figures . -write           the same, and lowers limits to the present figures
//	go run -C integration/figures . -since main      the same, and fails if a limit rose since main without a reason
//	go run -C integration/figures . -list mutex.txt  the functions that a program reaches, the longest first
//	go run -C integration/figures . -api             the exported names with their fields and methods, one a line
//	go run -C integration/figures . -h               all flags
//
// # The budget
//
// A line of the budget is the name of a figure and its limit. Limits only fall. A limit rises only for a feature that
// was asked for, and its line then says why:
//
//	code lines of the library  22300  # raised: WithLeaseExplanation
//
// # The figures
//
// A code line is neither blank nor comment. Figures count the files that Git tracks, as they are in the working tree.
// Only the call graph leaves out files that are not built on this platform.
//
// The library is framework, recipes and retry in the top-level module. Nested modules and testdata are not part of it.
// A package of it is a test helper
//
//   - if an element of its path ends in "test",
//   - if it imports testing or a test helper, outside of its _test.go files, or
//   - if it is internal, and every package of the library that imports it is a test helper.
//
// The other packages run in a user's program. "Code lines of the library" counts these, without their _test.go files.
// "The library's tests" are the _test.go files of all its packages, also of the helpers.
//
// The engine and the session are framework/session, recipes/internal/queue and what lies below framework/internal,
// without transport and clock.
//
// "A mutex" is the program mutex.txt, which makes a client without options, acquires one mutex and releases it. "An
// observed mutex" is the program observed.txt, which does the same with a logger, all traces and WithCaller. A program
// reaches the functions that Acquire and Release can call in it, including those that run only after an error; reach.go
// says how they are found. What runs on goroutines that started before Acquire is not reached. Code lines do not
// include framework/internal/transport, files do.
//
// A reader of the mutex stops at the session interface. The lines and files to read are whole files of recipes, with
// comments, of which a mutex reaches at least 30 code lines.
//
// A public package is one that other modules can import. Exported names are the lines of integration/api.txt.
//
// The download is the zip file that a module proxy would serve for the top-level module. A kilobyte is 1,000 bytes.
// Words are counted as wc -w does. Markdown in integration/bench/figures is not counted, nor is Go code in
// integration/bench.
//
// The exit status is 0 if all figures are within their limits, 1 if one is not or something could not be measured, and
// 2 for wrong flags.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// errUsage reports flags that cannot be parsed. The flag package has printed the reason.
var errUsage = errors.New("wrong flags")

// settings are what the flags choose.
type settings struct {
	dir, since, list, roots string
	api, write              bool
}

func parse(args []string, errs io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("figures", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() {
		_, _ = fmt.Fprintln(errs, "Figures compares the size of the project with the limits in "+budgetFile+".\n"+
			"It fails if a figure is above its limit. go doc -C integration/figures says what each figure counts.")
		flags.PrintDefaults()
	}
	flags.StringVar(&s.dir, "dir", "../..", "`directory` of the checkout")
	flags.BoolVar(&s.write, "write", false, "lower limits to the present figures, and add new figures; no limit is raised")
	flags.StringVar(&s.since, "since", "", "fail if a limit is higher than at this `revision` and does not say why")
	flags.BoolVar(&s.api, "api", false, "print the exported names of all packages that others may import, and nothing else")
	flags.StringVar(&s.list, "list", "", "print the functions that the program in this `file` reaches from the roots, and nothing else")
	flags.StringVar(&s.roots, "root", mutexRoots, "comma-separated `functions` where -list starts, as package.Type.Method or package.Function")
	err = flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
		_, _ = fmt.Fprintln(errs, err)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		err = errUsage
	}
	return s, err
}

func run(args []string, out, errs io.Writer) error {
	s, err := parse(args, errs)
	if err != nil {
		return err
	}
	c, err := open(s.dir)
	if err != nil {
		return err
	}
	var text string
	switch {
	case s.api:
		text, err = c.api()
	case s.list != "":
		text, err = c.list(s.list, strings.Split(s.roots, ","))
	default:
		return s.budget(c.figures, out)
	}
	if err == nil {
		_, err = io.WriteString(out, text)
	}
	return err
}

// budget measures everything and compares it with the limits.
func (s settings) budget(measure func() ([]figure, error), out io.Writer) error {
	name := filepath.Join(s.dir, filepath.FromSlash(budgetFile))
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	limits, err := parseBudget(string(text))
	if err != nil {
		return err
	}
	risen := s.compare(limits, out)
	began := time.Now()
	figures, err := measure()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "measured in %.1f s\n\n", time.Since(began).Seconds())
	if s.write {
		limits.lower(figures)
		if err := os.WriteFile(name, []byte(limits.String()), 0o644); err != nil {
			return err
		}
	}
	if err := limits.match(figures); err != nil {
		return err
	}
	_, _ = fmt.Fprint(out, limits.table(figures))
	return errors.Join(risen, limits.exceeded(figures))
}

// compare compares the limits with those at an earlier revision, if one is given.
func (s settings) compare(limits *budget, out io.Writer) error {
	if s.since == "" {
		return nil
	}
	found, err := git(s.dir, "ls-tree", "--name-only", "--full-tree", s.since, budgetFile)
	if err != nil || found == "" { // a revision without a budget
		return err
	}
	text, err := git(s.dir, "show", s.since+":"+budgetFile)
	if err != nil {
		return err
	}
	before, err := parseBudget(text)
	if err != nil {
		return fmt.Errorf("at %s: %w", s.since, err)
	}
	explained, err := limits.rises(before)
	for _, line := range explained {
		_, _ = fmt.Fprintln(out, line)
	}
	return err
}
