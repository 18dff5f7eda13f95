package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const help = `Replay runs Go tests under numbered schedules. Each number is exact: it gives the same output each time.

    replay package [flags] [-- arguments for the test binary]

    replay ./mypkg -run TestX                   until one of the schedules 1 to 100 fails
    replay ./mypkg -run TestX -schedule 7 -v    schedule 7 again, with its output

It needs Node.js 18 or later. In a module of your own it is
go run github.com/gocurator/curator/integration/replay@latest.

The exit code is 0 if all passed, 1 if a schedule failed, 2 if the arguments are wrong or something is missing.

`

// A config is what the arguments say.
type config struct {
	pkg        string
	pattern    string
	seed       uint64
	seeds      int
	schedule   uint64
	schedules  uint64
	workers    int
	limit      time.Duration
	shrinkTime time.Duration
	tries      uint64
	faultsFile string
	faults     []byte // what is in it
	verbose    bool
	extra      []string // for the test binary
}

// parse reads the arguments. The package may stand before the flags or behind them.
func parse(args []string, errs io.Writer) (config, error) {
	var c config
	if i := slices.Index(args, "--"); i >= 0 {
		args, c.extra = args[:i], args[i+1:]
	}
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() {
		_, _ = fmt.Fprint(errs, help)
		flags.PrintDefaults()
	}
	flags.StringVar(&c.pattern, "run", "", "run the tests that match this `pattern`, as go test does")
	flags.Uint64Var(&c.seed, "seed", 0, "the seed of a simulation")
	flags.IntVar(&c.seeds, "seeds", 0, "first search the seeds from 1 to `N` of simulations natively, and replay one that fails")
	flags.Uint64Var(&c.schedule, "schedule", 0, "run the schedule with this `number` alone")
	flags.Uint64Var(&c.schedules, "schedules", 100, "run the schedules from 1 to `N`, until one fails")
	flags.IntVar(&c.workers, "j", runtime.NumCPU(), "run so many schedules at the same time")
	flags.DurationVar(&c.limit, "limit", time.Minute, "report a schedule that takes longer in real time as one that hangs")
	flags.DurationVar(&c.shrinkTime, "shrink", time.Minute, "drop faults of a simulation that fails, for at most so long; 0, as after -schedule, keeps all")
	flags.Uint64Var(&c.tries, "tries", 20, "under how many more schedules a simulation with fewer faults may fail")
	flags.StringVar(&c.faultsFile, "faults", "", "let simulations suffer the faults of this `file`, which may be a history")
	flags.BoolVar(&c.verbose, "v", false, "print the output of schedules that pass, too")
	for len(args) > 0 {
		if !strings.HasPrefix(args[0], "-") {
			if c.pkg != "" {
				return c, fmt.Errorf("one package at a time: got %s and %s", c.pkg, args[0])
			}
			c.pkg, args = args[0], args[1:]
			continue
		}
		if err := flags.Parse(args); err != nil {
			return c, err
		}
		args = flags.Args()
	}
	err := c.check(flags)
	return c, err
}

// check refuses what contradicts itself, and reads the file of faults.
func (c *config) check(flags *flag.FlagSet) (err error) {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["schedule"] && !given["shrink"] {
		c.shrinkTime = 0 // one schedule again: that failure, and no other
	}
	switch {
	case c.pkg == "":
		return errors.New("which package? Try replay ./mypkg -run TestX, or -h")
	case given["schedule"] && given["schedules"]:
		return errors.New("-schedule is one number and -schedules the last of many: give one of them")
	case given["schedule"] && c.schedule == 0, c.schedules == 0:
		return errors.New("schedules are counted from 1")
	case given["seed"] && given["seeds"]:
		return errors.New("-seed is one seed and -seeds searches for one: give one of them")
	case c.seeds < 0:
		return errors.New("-seeds is how many seeds to search: it cannot be negative")
	case c.workers < 1:
		return errors.New("-j needs at least one")
	case c.limit <= 0:
		return errors.New("-limit needs some time")
	case c.faultsFile == "":
		return nil
	}
	c.faults, err = os.ReadFile(c.faultsFile)
	return err
}

// numbers returns the first and the last schedule.
func (c *config) numbers() numbers {
	if c.schedule > 0 {
		return numbers{c.schedule, c.schedule}
	}
	return numbers{1, c.schedules}
}

// numbers are those from the first to the last.
type numbers struct{ first, last uint64 }

func (n numbers) String() string {
	if n.first == n.last {
		return strconv.FormatUint(n.first, 10)
	}
	return fmt.Sprintf("%d to %d", n.first, n.last)
}

// arguments are the test binary's arguments.
func (c *config) arguments(history, faults bool) []string {
	args := []string{"-test.v"} // always, since printing is part of what a schedule decides about
	if c.pattern != "" {
		args = append(args, "-test.run", c.pattern)
	}
	if c.seed != 0 {
		args = append(args, "-seed", strconv.FormatUint(c.seed, 10))
	}
	if history {
		args = append(args, "-history", "/replay/history")
	}
	if faults {
		args = append(args, "-faults", "/replay/faults")
	}
	return append(args, c.extra...)
}

// again is the command that runs one schedule again.
func (c *config) again(schedule uint64, faults string) string {
	args := []string{"go", "run", "github.com/gocurator/curator/integration/replay@latest", c.pkg}
	if c.pattern != "" {
		args = append(args, "-run", c.pattern)
	}
	if c.seed != 0 {
		args = append(args, "-seed", strconv.FormatUint(c.seed, 10))
	}
	args = append(args, "-schedule", strconv.FormatUint(schedule, 10))
	if faults != "" {
		args = append(args, "-faults", faults)
	}
	if len(c.extra) > 0 {
		args = slices.Concat(args, []string{"--"}, c.extra)
	}
	for i, arg := range args {
		args[i] = quote(arg)
	}
	return strings.Join(args, " ")
}

// quote makes a word that a shell takes as it is.
func quote(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+@") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
