// Figures measures how much code a reader of this library has to judge, and prints it as Markdown tables.
//
//	cd integration/figures
//	go run .                                        this checkout
//	go run . -dir ../.. -dir /tmp/later             two checkouts side by side, a column each
//	go run . -list                                  the functions that the roots reach, the longest first
//	go run . -up framework/internal/live            which file uses which against the order, and by which names
//	go run . -api > ../api.txt                      the exported names, their fields and methods, a line each
//	go run . -program latch.txt -root recipes/leader.LeaderLatch.Run   what another program reaches from elsewhere
//	go run . -h                                     all flags
//
// # What is measured
//
//	code lines reached   lines with code, not blank and not comment, of the functions that one program reaches from the
//	                     roots, per package. The program (program.txt) makes a client without options, takes one mutex
//	                     and releases it. Only what this program can reach takes part: dynamic calls are resolved by
//	                     variable type analysis (VTA) over the functions that main reaches by rapid type analysis
//	                     (RTA), again and again until nothing more drops out. So a callback that only a semaphore or a
//	                     latch passes does not count. Of the functions left, those count that the roots reach, including
//	                     what runs only after an error. A function that reached code merely refers to, such as a
//	                     callback or a goroutine's body, counts as reached, so that a function that calls its parameter
//	                     adds nothing. So do the methods by which other modules call back: those of an interface
//	                     declared elsewhere to which reached code converts a value. What runs on goroutines that were
//	                     started before, such as a connection's reader, is not reached.
//	exported names       of the package's scope: types, aliases, functions, variables, constants; no methods, no fields.
//	                     Of the package that the summary names, its own count: no alias, and no constant or variable
//	                     whose value is a name of another package
//	uses against order   A file uses another of its package if it has a name that the other declares: a type, a
//	                     function, a method, a field. The order of the files is the one in which the fewest uses point
//	                     up; where more than 16 files use each other in circles it is the best that moving one file at
//	                     a time finds
//	methods of a type    all that can be called on an addressable value, exported or not; promoted ones too
//	glossary             rows of the table below the heading "Glossary"
//	nouns                different words in the names of a package's types, functions, fields, parameters, constants
//	                     and variables, split where the case changes, without a final s; of three letters and more
//	code lines in all    of the engine, the session and what the session stands on, but transport and clock
//	mutable variables    package-level variables that are neither error values nor constant tables: something in the
//	                     module assigns to them or through them, takes their address, or their type holds state of
//	                     its own (sync, sync/atomic, a channel, a pointer to a struct whose fields are assigned)
//	comment words        words in comments for each 1,000 lines with code; directives do not count
//	function length      lines from "func" to the closing brace; closures belong to their function
//	complexity           cyclomatic: 1 + if, for, case, &&, ||
//	imports              between the module's packages; one that points to a higher floor points up, one to another
//	                     package of the same floor points sideways, unless both are parts of one program
//
// Test files are left out everywhere. Packages for tests (whose name ends in "test") are measured, but they do not take
// part in the call graph. Of files with build constraints, those of this platform count.
//
// The exit status is 0 when the tables were printed, 1 when something could not be measured (a root or a package is
// missing, or code does not compile), and 2 for wrong flags.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// errUsage reports flags that cannot be parsed. The flag package has printed the reason.
var errUsage = errors.New("wrong flags")

// settings are what the flags choose.
type settings struct {
	dirs     list
	packages list // patterns of go list
	roots    list // entry points of the call graph
	apart    list // packages whose reached lines are summed up apart
	floors   list // from the lowest to the highest, each a blank-separated list of package prefixes
	names    string
	methods  string
	glossary string // relative to the checkout
	up       string
	api      bool
	program  string // its text
	limit    int
	list     bool
}

// A list is a flag of several values, separated by commas or given one by one. The first one replaces the default.
type list struct {
	values []string
	set    bool
}

func (l *list) String() string { return strings.Join(l.values, ",") }

func (l *list) Set(text string) error {
	if !l.set {
		l.values, l.set = nil, true
	}
	l.values = append(l.values, strings.Split(text, ",")...)
	return nil
}

func values(v ...string) list { return list{values: v} }

func parse(args []string, errs io.Writer) (settings, error) {
	s := settings{
		dirs:     values("../.."),
		packages: values("./framework/...", "./recipes/...", "./retry/..."),
		roots:    values("recipes/locks.InterProcessMutex.Acquire", "recipes/locks.Lease.Release"),
		apart:    values("framework/internal/transport"),
		floors: values("retry framework/ranked framework/zktest/explore", "framework/zktest framework/internal/clock framework/listen framework/sasl",
			"framework/session", "framework/internal/cause", "framework/internal", "framework/internal/live", "framework", "recipes/internal/steps", "recipes/internal recipes/shared recipes/cache recipes/nodes", "recipes", "recipes/leader recipes/counters",
			"recipes/journaltest", "framework/internal/clienttest recipes/locks/lockstest recipes/cache/cachetest",
			"recipes/internal/model recipes/internal/malformtest recipes/internal/simtest recipes/leader/leadertest recipes/cache/porttest recipes/nodes/nodestest"),
	}
	flags := flag.NewFlagSet("figures", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Var(&s.dirs, "dir", "`directories` of checkouts of the module, a column of the summary for each")
	flags.Var(&s.packages, "packages", "`patterns` of the packages to measure")
	flags.Var(&s.roots, "root", "entry `points`, package.Type.Method or package.Function, the package relative to the module")
	flags.Var(&s.apart, "apart", "`packages` whose reached lines are not part of framework's sum")
	flags.Var(&s.floors, "floors", "prefixes of packages from the lowest floor to the highest; blanks separate those of one `floor`")
	flags.StringVar(&s.names, "names", "framework", "`package` whose exported names are counted in the summary")
	flags.StringVar(&s.methods, "methods", "framework/internal/live.Session", "`type` whose methods are counted in the summary")
	flags.StringVar(&s.glossary, "glossary", "recipes/locks/DESIGN.md", "`page` whose glossary is counted")
	flags.StringVar(&s.up, "up", "", "print the uses against the order in a `package`, and nothing else")
	flags.BoolVar(&s.api, "api", false, "print the exported names of all packages that others may import, and nothing else")
	flags.IntVar(&s.limit, "limit", 260, "the number of `lines` that a file should not exceed")
	program := flags.String("program", "", "`file` with the program that uses the library (default one that takes and releases a mutex)")
	flags.BoolVar(&s.list, "list", false, "print the functions that the roots reach, the longest first, and nothing else")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return s, err
		}
		return s, errUsage
	}
	if flags.NArg() > 0 {
		_, err := fmt.Fprintf(errs, "figures: unexpected argument %q\n", flags.Arg(0))
		return s, errors.Join(errUsage, err)
	}
	err := s.readProgram(*program)
	return s, err
}

//go:embed program.txt
var mutexProgram string

func (s *settings) readProgram(name string) error {
	s.program = mutexProgram
	if name == "" {
		return nil
	}
	text, err := os.ReadFile(name)
	s.program = string(text)
	return err
}

func run(args []string, out, errs io.Writer) error {
	s, err := parse(args, errs)
	if err != nil {
		return err
	}
	var all []*figures
	for _, dir := range s.dirs.values {
		f, err := measure(dir, s)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		all = append(all, f)
	}
	text := markdown(all, s)
	switch last := all[len(all)-1]; {
	case s.list:
		text = last.list()
	case s.api:
		text = last.api
	case s.up != "":
		if text, err = last.listUp(s.up); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, text)
	return err
}
