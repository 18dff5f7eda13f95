package run

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/servers"
	"github.com/gocurator/curator/framework/session"
)

// A job is what a command line asks for.
type job struct {
	servers *servers.Config
	paths   []string
	command []string
	program string // the command's, looked up in PATH

	read, write, leader bool
	semaphore           int
	try                 bool
	wait                time.Duration // negative: for ever
	grace, margin       time.Duration // negative: by the session timeout
	minHold             time.Duration
	busyCode, lostCode  int
	onRevoke            string
	data                string
	dataCommand         bool
	statusFD            int
	json, verbose       bool
	quiet, debug        bool
	emptyStdin          bool
	leftovers           string
	reenter             bool
	allowSetuid         bool

	given map[string]bool // flags that the command line has
}

// Flags returns the flags of zklock run, for the manual.
func Flags() *flag.FlagSet {
	set, _ := flags()
	return set
}

func flags() (*flag.FlagSet, *job) {
	set, j := lockFlags("run")
	limit(set, &j.grace, "grace", "`duration` from TERM to KILL (default: T/8, at most 10s)")
	limit(set, &j.margin, "margin", "`duration` from KILL to the end of the lease (default: T/16, at most 1s)")
	set.DurationVar(&j.minHold, "min-hold", 0, "keep the lock at least so long, if the command was quicker")
	set.StringVar(&j.onRevoke, "on-revoke", "term", "the `signal` when another process asks to leave: term, hup, int, usr1, ignore")
	set.BoolVar(&j.dataCommand, "data-command", false, "have the node name the command's arguments, too: all who may read it see them")
	set.IntVar(&j.statusFD, "status-fd", -1, "write events as JSON lines to this `descriptor`")
	set.BoolVar(&j.emptyStdin, "stdin-null", false, "give the command an empty standard input")
	set.StringVar(&j.leftovers, "leftovers", "kill", "processes that the command leaves behind: `kill` them, or wait for them")
	set.BoolVar(&j.allowSetuid, "allow-setuid", false, "let the command gain privileges, by sudo for one: such a process cannot be ended")
	set.BoolVar(&j.reenter, "reenter", false, "run without locking what a zklock around this one holds already")
	return set, j
}

// lockFlags are the flags of every command that takes a lock.
func lockFlags(command string) (*flag.FlagSet, *job) {
	set := flag.NewFlagSet("zklock "+command, flag.ContinueOnError)
	set.SetOutput(io.Discard) // what uses the set prints errors
	j := &job{servers: servers.Flags(set)}
	set.BoolVar(&j.read, "read", false, "take the read lock: others may read, too")
	set.BoolVar(&j.write, "write", false, "take the write lock of a read/write lock")
	set.IntVar(&j.semaphore, "semaphore", 0, "take one of `n` leases; all users of the path say the same n")
	set.BoolVar(&j.leader, "leader", false, "stand for election, beside LeaderSelectors; -data is the id")
	set.BoolVar(&j.try, "try", false, "do not wait: status 75 if the lock is taken")
	limit(set, &j.wait, "wait", "wait for at most this `duration`, then end with status 75 (default: for ever)")
	set.IntVar(&j.busyCode, "E", ExitBusy, "`status` if the lock is not acquired")
	set.IntVar(&j.lostCode, "lost-exit-code", ExitLost, "`status` if the lock was lost")
	set.StringVar(&j.data, "data", "", "`text` for the node, to say who holds (default: user@host, process and program)")
	set.BoolVar(&j.json, "json", false, "write events as JSON lines to standard error, instead of texts")
	set.BoolVar(&j.verbose, "v", false, "report each step, and every 30 seconds who is ahead")
	set.BoolVar(&j.quiet, "quiet", false, "report errors only")
	set.BoolVar(&j.debug, "debug", false, "log what the client does")
	return set, j
}

// limit adds a duration that is negative if it is not given.
func limit(set *flag.FlagSet, to *time.Duration, name, usage string) {
	*to = -1
	set.Func(name, usage, func(s string) error {
		d, err := time.ParseDuration(s)
		if err == nil && d < 0 {
			err = errors.New("want a time that is not negative")
		}
		*to = d
		return err
	})
}

// parse reads a command line. Flags may stand before and between the paths.
func parse(args []string, getenv func(string) string) (*job, error) {
	set, j := flags()
	rest, command, found := args, []string(nil), slices.Index(args, "--")
	if found >= 0 {
		rest, command = args[:found], args[found+1:]
	}
	if err := j.parse(set, rest); err != nil {
		return nil, err
	}
	j.command = command
	if found < 0 || len(command) == 0 {
		return nil, errors.New("no command: it stands behind --, as in: zklock run /locks/nightly -- ./backup.sh; " +
			"zklock hold holds a lock without one")
	}
	err := j.complete(getenv, j.checkRun)
	return j, err
}

// parse reads flags and paths.
func (j *job) parse(set *flag.FlagSet, args []string) (err error) {
	j.paths, err = Interleaved(set, args)
	j.given = map[string]bool{}
	set.Visit(func(f *flag.Flag) { j.given[f.Name] = true })
	return err
}

// Interleaved parses flags that may stand before, between and behind other arguments, which it returns.
func Interleaved(set *flag.FlagSet, args []string) (others []string, err error) {
	for {
		if err := set.Parse(args); err != nil {
			return nil, err
		}
		if set.NArg() == 0 {
			return others, nil
		}
		others = append(others, set.Arg(0))
		args = set.Args()[1:]
	}
}

// complete checks everything, and adds what the environment and the configuration say.
func (j *job) complete(getenv func(string) string, check func() error) error {
	if err := errors.Join(j.checkLock(), check(), j.servers.Complete(getenv)); err != nil {
		return err
	}
	if j.data == "" {
		j.data = j.who()
	}
	return nil
}

// checkLock returns everything that is wrong with what is to be locked.
func (j *job) checkLock() error {
	var wrong []error
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if len(j.paths) == 0 {
		bad("no path: say which lock, such as /locks/nightly")
	}
	for _, path := range j.paths {
		if err := session.ValidatePath(path); err != nil || path == "/" {
			bad("%q is no path of a lock: it begins with / and ends without", path)
		}
	}
	slices.Sort(j.paths)
	if len(slices.Compact(slices.Clone(j.paths))) != len(j.paths) {
		bad("a path is named twice")
	}
	kinds := 0
	for _, chosen := range []bool{j.read, j.write, j.leader, j.given["semaphore"]} {
		if chosen {
			kinds++
		}
	}
	if kinds > 1 {
		bad("-read, -write, -semaphore and -leader exclude each other")
	}
	if j.given["semaphore"] && j.semaphore < 1 {
		bad("-semaphore %d: want at least 1", j.semaphore)
	}
	if j.try && j.wait >= 0 {
		bad("-try and -wait exclude each other: -try does not wait at all")
	}
	for name, code := range map[string]int{"E": j.busyCode, "lost-exit-code": j.lostCode} {
		if code < 0 || code > 255 {
			bad("-%s %d: want 0 to 255", name, code)
		}
	}
	return errors.Join(wrong...)
}

// checkRun returns everything that is wrong with the rest of the command line of zklock run.
func (j *job) checkRun() (err error) {
	if _, ok := revocation[j.onRevoke]; !ok {
		err = fmt.Errorf("-on-revoke %s: want term, hup, int, usr1 or ignore", j.onRevoke)
	}
	if j.leftovers != "kill" && j.leftovers != "wait" {
		err = errors.Join(err, fmt.Errorf("-leftovers %s: want kill or wait", j.leftovers))
	}
	return errors.Join(err, j.checkData())
}

func (j *job) kind() string {
	switch {
	case j.read:
		return "read"
	case j.write:
		return "write"
	case j.semaphore > 0:
		return "semaphore"
	case j.leader:
		return "leader"
	default:
		return "mutex"
	}
}
