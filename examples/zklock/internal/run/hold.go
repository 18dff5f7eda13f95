package run

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/manual"
	"github.com/gocurator/curator/recipes/locks"
)

// HoldFlags returns the flags of zklock hold, for the manual.
func HoldFlags() *flag.FlagSet {
	set, _ := holdFlags()
	return set
}

func holdFlags() (*flag.FlagSet, *job) {
	set, j := lockFlags("hold")
	set.StringVar(&j.onRevoke, "on-revoke", "leave", "what to `do` when another process asks to leave: leave, ignore")
	return set, j
}

// Hold holds a lock without a command, and returns the status of the process, which is its own: it handles signals, and
// reads standard input.
func Hold(args []string, out, errs io.Writer) int {
	j, err := parseHold(args, os.Getenv)
	if errors.Is(err, flag.ErrHelp) {
		manual.Print(out, HoldHelp, HoldFlags())
		return 0
	}
	if err != nil {
		return failed(errs, "hold", ExitUsage, err)
	}
	if path := j.isWithin(heldAround(os.Getenv)); path != "" {
		return failed(errs, "hold", ExitUsage, errWithin(path))
	}
	signals := make(chan os.Signal, 16)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // as under nohup
			signal.Notify(signals, s)
		}
	}
	ignoreStops()
	signal.Ignore(syscall.SIGPIPE) // the write fails instead, and the lock is released
	return j.hold(j.teller("hold", errs), out, ended(os.Stdin), signals)
}

func parseHold(args []string, getenv func(string) string) (*job, error) {
	set, j := holdFlags()
	if slices.Contains(args, "--") {
		return nil, errors.New("zklock hold runs no command: zklock run does")
	}
	if err := j.parse(set, args); err != nil {
		return nil, err
	}
	j.grace, j.margin = -1, -1 // those of zklock run, for warnings
	err := j.complete(getenv, func() error {
		if j.onRevoke != "leave" && j.onRevoke != "ignore" {
			return fmt.Errorf("-on-revoke %s: want leave or ignore", j.onRevoke)
		}
		return nil
	})
	return j, err
}

// ended reads until the end, and then closes the channel. What cannot be read, such as the terminal in the background
// of a shell, does not end.
func ended(in io.Reader) <-chan struct{} {
	done := make(chan struct{})
	go func() { // ends with the process at the latest
		if _, err := io.Copy(io.Discard, in); err == nil {
			close(done)
		}
	}()
	return done
}

// hold is everything from the connection to the release.
func (j *job) hold(t *teller, out io.Writer, input <-chan struct{}, signals <-chan os.Signal) int {
	client, err := j.client(t)
	if err != nil {
		return failed(t.errs, "hold", ExitUsage, err)
	}
	defer func() { _ = client.Close() }()
	var p plan
	acquire := func(ctx context.Context) (*locks.Lease, error) { return j.connectAndAcquire(ctx, client, t, &p) }
	lease, err := await(acquire, signals, input)
	if err != nil {
		return j.refused(t, client, err)
	}
	parts := lease.Parts()
	if parts == nil {
		parts = []*locks.Lease{lease}
	}
	for _, part := range parts {
		if _, err := fmt.Fprintln(out, part.Path(), part.FencingToken(), part.NodeName()); err != nil {
			t.release(lease)
			return failed(t.errs, "hold", ExitSoftware, fmt.Errorf("no reader learns that the lock is held: %w", err))
		}
	}
	w := &watchman{teller: t, plan: p, leave: j.onRevoke == "leave", lost: j.lostCode}
	code := w.watch(lease, lease.RevocationRequested(), input, signals)
	t.release(lease)
	return code
}

// A watchman watches a lease that no command depends on.
type watchman struct {
	*teller
	plan   plan
	leave  bool // when another process asks for the lock
	lost   int  // the status if the lease ends
	warned bool
}

// A held lease is what a watchman looks at.
type heldLease interface {
	expiring
	Done() <-chan struct{}
}

// watch returns the status when the lock has to be released, or is lost.
func (w *watchman) watch(lease heldLease, asked, input <-chan struct{}, signals <-chan os.Signal) int {
	tick := time.NewTicker(max(w.plan.margin/2, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-lease.Done():
			w.tell(lostEvent(lease.Err()))
			return w.lost
		case <-asked:
			asked = nil
			w.tell(Event{Event: "asked", text: "another process asks for the lock", problem: true})
			if w.leave {
				return 0
			}
		case <-input:
			return 0
		case s := <-signals:
			if ends(s) {
				return (&signaled{s}).code()
			}
		case <-tick.C:
			w.look(time.Until(lease.ValidUntil()))
		}
	}
}

// look says when the lease is about to end, and when it is not any more.
func (w *watchman) look(left time.Duration) {
	due := left <= w.plan.grace+w.plan.margin
	switch {
	case due && !w.warned:
		w.tell(Event{
			Event: "warned", Spare: milliseconds(left), problem: true,
			text: fmt.Sprintf("no answer from the servers: the lock ends in %v", left.Round(time.Millisecond)),
		})
	case !due && w.warned:
		w.tell(Event{Event: "recovered", Spare: milliseconds(left), text: "the servers answer again: the lock is kept", problem: true})
	}
	w.warned = due
}
