package run

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/servers"
	"github.com/gocurator/curator/framework"
)

// Help is the manual of zklock run, without its flags.
const Help = `zklock run [flags] PATH… -- COMMAND [argument…]

Runs a command while it holds a lock. It waits for its turn, first come, first
served. The command is ended, with all processes that descend from it, before
another process can get the lock: TERM first, and KILL when the grace has
passed, both while the lock is still held. Several paths are locked together,
in one order, so that two of these cannot wait for each other.

Examples:

  zklock run -zk zk1:2181,zk2:2181 /locks/nightly -- ./backup.sh --all
  zklock run -try /locks/nightly -- ./backup.sh     # status 75 if it is taken
  zklock run -wait 30s -read /locks/index -- ./search
  zklock run -semaphore 5 /locks/gpu -- ./train     # five at a time
  zklock run /locks/a /locks/b -- ./move a b        # both, or wait
  zklock run -status-fd 3 /locks/x -- ./job 3>events.json

The time of the command, T being the session timeout that the servers granted:

  the lease is valid for 1/2 to 3/4 T from any moment, while servers answer
  START    after an outage not before the lease is renewed, within T/4
  TERM     grace + margin before it ends; the command may survive that if the
           servers answer again
  KILL     a margin before it ends; without delay if the node was deleted, and
           after a wake-up of the machine that comes too late

The command's environment has ZKLOCK_PATH, ZKLOCK_NODE, ZKLOCK_TOKEN (the
fencing token, a number that grows from hold to hold), ZKLOCK_SESSION_ID,
ZKLOCK_KIND, ZKLOCK_TIMEOUT_MS and ZKLOCK_COUNT; for several paths
ZKLOCK_0_PATH, ZKLOCK_0_NODE, ZKLOCK_0_TOKEN and so on. A store that refuses
smaller tokens than it has seen is safe even from a command that is late.

Signals: INT, TERM, HUP and QUIT end a wait. While the command runs they are
passed on, as are USR1, USR2, WINCH and CONT; after TERM the command has the
grace to end. On a terminal the command is in the foreground, and is not
stopped by Ctrl-Z: others wait for it.

Processes: a second process, "zklock keep", starts the command and ends it, so
that the time is kept although zklock itself is stopped or killed. On Linux it
ends everything that descends from the command, daemons included, and the
command ends with it; on other systems, the command's process group. A process
in uninterruptible sleep outlives KILL: the token is for that. Windows has no
signals and no process groups like these, so zklock run does not run there.

Exit status: that of the command, or 128 + the signal that ended it; and

   64  wrong usage                       77  refused by the servers
   69  no server reached                 78  grace and margin do not fit the
   70  another failure                       session, or the path is another
   75  not acquired (-try, -wait)            kind of lock
   79  the lock was lost, and the        126, 127  the command cannot be run,
       command ended for it                  is not there
  128 + n  signal n came while waiting

-status-fd and -json write one JSON object a line: waiting, acquired, started,
warned, recovered, asked, killed, resumed, left, lost, exited, gone, released,
failed. They have spare_ms: how long the lock was to last from then.
`

// A job is what a command line asks for.
type job struct {
	servers *servers.Config
	paths   []string
	command []string
	program string // of the command, looked up

	read, write, leader bool
	semaphore           int
	try                 bool
	wait                time.Duration // negative: for ever
	grace, margin       time.Duration // negative: by the session timeout
	minHold             time.Duration
	busyCode, lostCode  int
	onRevoke            string
	data                string
	statusFD            int
	json, verbose       bool
	quiet, debug        bool
	emptyStdin          bool
	leftovers           string
	reenter             bool
}

// Flags returns the flags of zklock run, for the manual.
func Flags() *flag.FlagSet {
	set, _ := flags()
	return set
}

func flags() (*flag.FlagSet, *job) {
	set := flag.NewFlagSet("zklock run", flag.ContinueOnError)
	set.SetOutput(io.Discard) // Main prints errors
	j := &job{servers: servers.Flags(set)}
	set.BoolVar(&j.read, "read", false, "take the read lock: others may read, too")
	set.BoolVar(&j.write, "write", false, "take the write lock of a read/write lock")
	set.IntVar(&j.semaphore, "semaphore", 0, "take one of `n` leases; all users of the path say the same n")
	set.BoolVar(&j.leader, "leader", false, "stand for election, beside LeaderSelectors; -data is the id")
	set.BoolVar(&j.try, "try", false, "do not wait: status 75 if the lock is taken")
	limit(set, &j.wait, "wait", "wait at most so `long`, then end with status 75 (default: for ever)")
	limit(set, &j.grace, "grace", "`time` from TERM to KILL (default: T/8, at most 10s)")
	limit(set, &j.margin, "margin", "`time` from KILL to the end of the lease (default: T/16, at most 1s)")
	set.DurationVar(&j.minHold, "min-hold", 0, "keep the lock at least so long, if the command was quicker")
	set.IntVar(&j.busyCode, "E", ExitBusy, "`status` if the lock is not acquired")
	set.IntVar(&j.lostCode, "lost-exit-code", ExitLost, "`status` if the lock was lost")
	set.StringVar(&j.onRevoke, "on-revoke", "term", "the `signal` when another process asks to leave: term, hup, int, usr1, ignore")
	set.StringVar(&j.data, "data", "", "`text` for the node, to tell who holds (default: user@host, process and command)")
	set.IntVar(&j.statusFD, "status-fd", -1, "write events as JSON lines to this `descriptor`")
	set.BoolVar(&j.json, "json", false, "write events as JSON lines to standard error, instead of texts")
	set.BoolVar(&j.verbose, "v", false, "tell each step, and every 30 seconds who is ahead")
	set.BoolVar(&j.quiet, "quiet", false, "tell errors only")
	set.BoolVar(&j.debug, "debug", false, "log what the client does")
	set.BoolVar(&j.emptyStdin, "stdin-null", false, "give the command an empty standard input")
	set.StringVar(&j.leftovers, "leftovers", "kill", "processes that the command leaves behind: `kill` them, or wait for them")
	set.BoolVar(&j.reenter, "reenter", false, "run without locking what a zklock around this one holds already")
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
	for {
		if err := set.Parse(rest); err != nil {
			return nil, err
		}
		if set.NArg() == 0 {
			break
		}
		j.paths = append(j.paths, set.Arg(0))
		rest = set.Args()[1:]
	}
	j.command = command
	if found < 0 || len(command) == 0 {
		return nil, errors.New("no command: it stands behind --, as in: zklock run /locks/nightly -- ./backup.sh")
	}
	if err := errors.Join(j.check(), j.servers.Complete(getenv)); err != nil {
		return nil, err
	}
	if j.data == "" {
		j.data = j.who()
	}
	return j, nil
}

// check returns everything that is wrong.
func (j *job) check() error {
	var wrong []error
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if len(j.paths) == 0 {
		bad("no path: say which lock, as in: zklock run /locks/nightly -- %s", strings.Join(j.command, " "))
	}
	for _, path := range j.paths {
		if err := framework.ValidatePath(path); err != nil || path == "/" {
			bad("%q is no path of a lock: it begins with / and ends without", path)
		}
	}
	slices.Sort(j.paths)
	if len(slices.Compact(slices.Clone(j.paths))) != len(j.paths) {
		bad("a path is named twice")
	}
	kinds := 0
	for _, chosen := range []bool{j.read, j.write, j.leader, j.semaphore != 0} {
		if chosen {
			kinds++
		}
	}
	if kinds > 1 {
		bad("-read, -write, -semaphore and -leader exclude each other")
	}
	if j.semaphore < 0 {
		bad("-semaphore %d: want at least 1", j.semaphore)
	}
	if _, ok := revocation[j.onRevoke]; !ok {
		bad("-on-revoke %s: want term, hup, int, usr1 or ignore", j.onRevoke)
	}
	if j.leftovers != "kill" && j.leftovers != "wait" {
		bad("-leftovers %s: want kill or wait", j.leftovers)
	}
	for name, code := range map[string]int{"E": j.busyCode, "lost-exit-code": j.lostCode} {
		if code < 0 || code > 255 {
			bad("-%s %d: want 0 to 255", name, code)
		}
	}
	return errors.Join(wrong...)
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

// who tells people who stands in the queue.
func (j *job) who() string {
	name := "?"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	id := name + "@" + host
	if j.leader {
		return id
	}
	text := id + " " + strconv.Itoa(os.Getpid()) + " " + strings.Join(j.command, " ")
	const most = 200 // bytes; the command's arguments may be long
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
