// Package commands has those of zklock that look at locks.
package commands

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/gocurator/curator/examples/zklock/internal/manual"
	"github.com/gocurator/curator/examples/zklock/internal/run"
	"github.com/gocurator/curator/examples/zklock/internal/servers"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// ExitNoLock is the status if there is no lock at a path.
const ExitNoLock = 66

// ExitFound is doctor's status if it has found something that should be changed.
const ExitFound = 1

// statuses is the end of each manual.
const statuses = `
Exit status: 0; 64 wrong usage; 66 there is no lock at that path; 69 no server
reached; 70 another failure; 77 refused by the servers; 128 + n after signal n.
`

// A Command is one of zklock's.
type Command struct {
	Name  string
	Short string // a line about it
	Help  string // the manual, without the flags
	Flags func() *flag.FlagSet
	Main  func(args []string, out, errs io.Writer) int
}

// All are the commands that this system has, in the order in which they are listed.
func All() []Command { return all(run.Supported) }

// all leaves out run where a command cannot be ended in time.
func all(runs bool) []Command {
	commands := []Command{
		{"run", "run a command under a lock", run.Help, run.Flags, run.Main},
		{"hold", "hold a lock without a command", run.HoldHelp, run.HoldFlags, run.Hold},
		looking("lead", "stand for election, and answer over HTTP who leads", leadHelp, newLead),
		looking("ls", "list the locks at and below a path", lsHelp, newLs),
		looking("who", "show who holds a lock and who waits for it", whoHelp, newWho),
		looking("watch", "show a lock while it changes hands", watchHelp, newWatch),
		looking("revoke", "ask the holders of a lock to leave", revokeHelp, newRevoke),
		looking("doctor", "look for what is wrong with locks and servers", doctorHelp, newDoctor),
		looking("serve", "show locks in the browser", serveHelp, newServe),
		{"history", "show who held a lock, from the servers' logs", historyHelp, func() *flag.FlagSet { return newHistorian().set }, readHistory},
		looking("bench", "measure how fast a lock changes hands here", benchHelp, newBench),
		{"version", "print which zklock this is", versionHelp, func() *flag.FlagSet { set, _ := versionFlags(); return set }, version},
	}
	if !runs {
		return commands[1:]
	}
	return commands
}

// A looker is a command in the making.
type looker struct {
	json    *bool
	paths   [2]int // least and most arguments
	servers *servers.Config
	do      func(ctx context.Context, s *scene) error
}

// A scene is what a looker works on.
type scene struct {
	client  *framework.Client
	servers *servers.Config
	paths   []string
	json    bool
	out     io.Writer
}

// A statusError ends the process with a status of its own.
type statusError struct {
	code int
	error
}

func (e *statusError) Unwrap() error { return e.error }

// looking makes a command of a function that declares its flags, and says what to do.
func looking(name, short, help string, declare func(set *flag.FlagSet) *looker) Command {
	construct := func() (*flag.FlagSet, *looker) {
		set := flag.NewFlagSet("zklock "+name, flag.ContinueOnError)
		set.SetOutput(io.Discard)
		l := declare(set)
		l.servers = servers.Flags(set)
		l.json = set.Bool("json", false, "print JSON")
		return set, l
	}
	return Command{name, short, help, func() *flag.FlagSet { set, _ := construct(); return set }, func(args []string, out, errs io.Writer) int {
		set, l := construct()
		return l.main(name, help, set, args, out, errs)
	}}
}

func (l *looker) main(name, help string, set *flag.FlagSet, args []string, out, errs io.Writer) int {
	fail := func(code int, err error) int {
		_, _ = fmt.Fprintf(errs, "zklock %s: %s\n", name, survey.Printable(err.Error()))
		if code == run.ExitUsage {
			_, _ = fmt.Fprintf(errs, "zklock %s -h has the manual\n", name)
		}
		return code
	}
	paths, err := run.Interleaved(set, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		manual.Print(out, help, set)
		return 0
	case err == nil && (len(paths) < l.paths[0] || len(paths) > l.paths[1]):
		err = fmt.Errorf("got %d paths, want %s", len(paths), l.wants())
	}
	if err := errors.Join(err, validate(paths), l.servers.Complete(os.Getenv)); err != nil {
		return fail(run.ExitUsage, err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	defer catch(stop)()
	client, err := l.servers.Client(nil)
	if err != nil {
		return fail(run.ExitUsage, err)
	}
	defer func() { _ = client.Close() }()
	err = l.do(ctx, &scene{client, l.servers, paths, *l.json, out})
	return l.code(ctx, l.explained(ctx, err), fail)
}

// code is the status for the end of a command.
func (l *looker) code(ctx context.Context, err error, fail func(int, error) int) int {
	var status *statusError
	var ended *signalError
	switch {
	case errors.As(context.Cause(ctx), &ended):
		return 128 + int(ended.signal)
	case err == nil:
		return 0
	case errors.As(err, &status):
		if status.error != nil {
			return fail(status.code, err)
		}
		return status.code
	case errors.Is(err, survey.ErrNoLock):
		return fail(ExitNoLock, err)
	default:
		return fail(run.ExitCode(err), err)
	}
}

func (l *looker) wants() string {
	switch l.paths {
	case [2]int{1, 1}:
		return "one: the path of a lock"
	case [2]int{0, 1}:
		return "at most one"
	default:
		return fmt.Sprintf("%d to %d", l.paths[0], l.paths[1])
	}
}

func validate(paths []string) (err error) {
	for _, path := range paths {
		if session.ValidatePath(path) != nil {
			err = errors.Join(err, fmt.Errorf("%q is no path: it begins with / and ends without", path))
		}
	}
	return err
}

// A signalError is why a command ends early.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string { return e.signal.String() }

// catch ends a context with the first signal, and the process with the second.
func catch(stop context.CancelCauseFunc) (release func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			number, _ := s.(syscall.Signal)
			stop(&signalError{number})
		case <-done:
		}
	}()
	return func() { signal.Stop(signals); close(done) }
}

// printJSON prints one value, indented.
func (s *scene) printJSON(value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return s.print(string(text) + "\n")
}

func (s *scene) print(text string) error {
	_, err := io.WriteString(s.out, text)
	return err
}

// printEach prints a line of JSON for each value.
func (s *scene) printEach(all []survey.Change) error {
	for _, one := range all {
		text, err := json.Marshal(one)
		if err != nil {
			return err
		}
		if err := s.print(string(text) + "\n"); err != nil {
			return err
		}
	}
	return nil
}
