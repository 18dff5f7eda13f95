package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func failed(errs io.Writer, command string, code int, err error) int {
	_, _ = fmt.Fprintf(errs, "zklock %s: %v\n", command, Printable(err.Error()))
	if code == ExitUsage {
		_, _ = fmt.Fprintf(errs, "zklock %s -h has the manual\n", command)
	}
	return code
}

// teller returns what reports on the command, as the job demands.
func (j *job) teller(command string, errs io.Writer) *teller {
	return &teller{command: command, errs: errs, json: j.json, verbose: j.verbose, quiet: j.quiet}
}

// isWithin returns a path of the job that a zklock around this process holds, if there is one.
func (j *job) isWithin(around []string) string {
	for _, path := range j.paths {
		if slices.Contains(around, path) {
			return path
		}
	}
	return ""
}

func errWithin(path string) error {
	return fmt.Errorf("this process runs under a zklock that holds %s, and would wait for itself", path)
}

// client makes the client of the job.
func (j *job) client(t *teller) (*framework.Client, error) {
	var debug *slog.Logger
	if j.debug {
		debug = slog.New(slog.NewTextHandler(t.errs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return j.servers.Client(debug)
}

// Reasons for which a wait ends without the lock.
type signaled struct{ signal os.Signal }

func (e *signaled) Error() string {
	return "ended by a signal before the lock was used: " + e.signal.String()
}

var errInputEnded = errors.New("standard input ended before the lock was acquired")

// await waits until acquire returns, a signal comes, or input is closed. A lease that comes together with one of the
// latter is released, since nothing has used it.
func await(acquire func(context.Context) (*locks.Lease, error), signals <-chan os.Signal, input <-chan struct{}) (*locks.Lease, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type result struct {
		lease *locks.Lease
		err   error
	}
	done := make(chan result, 1)
	go func() { // ends before await does
		lease, err := acquire(ctx)
		done <- result{lease, err}
	}()
	var came error
	end := func(s os.Signal) {
		if second := (*signaled)(nil); errors.As(came, &second) {
			os.Exit(second.code()) // a second signal does not wait
		}
		came = &signaled{s}
		cancel()
	}
	for {
		select {
		case r := <-done:
			for pending := true; pending; {
				select {
				case s := <-signals:
					if came == nil && ends(s) {
						came = &signaled{s}
					}
				default:
					pending = false
				}
			}
			if came == nil {
				return r.lease, r.err
			}
			if r.err == nil {
				_ = r.lease.Release() // if it fails, the client's end does it
			}
			return nil, came
		case s := <-signals:
			if ends(s) {
				end(s)
			}
		case <-input:
			input = nil
			if came == nil {
				came = errInputEnded
				cancel()
			}
		}
	}
}

// code is the status of a process that a signal has ended.
func (e *signaled) code() int {
	number, _ := e.signal.(syscall.Signal)
	return exitSignal + int(number)
}

// connectAndAcquire waits for the session and for the lock, and makes the plan for it.
func (j *job) connectAndAcquire(ctx context.Context, client *framework.Client, t *teller, to *plan) (*locks.Lease, error) {
	session, err := client.Session(ctx)
	if err != nil {
		return nil, err
	}
	if *to, err = newPlan(session.Timeout(), j.grace, j.margin); err != nil {
		return nil, &planError{err}
	}
	begun := time.Now()
	lease, err := j.acquire(ctx, client, t)
	if err != nil {
		return nil, err
	}
	settle(ctx, lease, to.room(session.Timeout()), session.Timeout()/2)
	parts := lease.Parts()
	if parts == nil {
		parts = []*locks.Lease{lease}
	}
	waited := time.Since(begun)
	for _, part := range parts {
		t.tell(Event{
			Event: "acquired", Path: part.Path(), Node: part.NodeName(), Token: part.FencingToken(), Session: sessionID(session.ID()),
			Waited: *milliseconds(waited), text: fmt.Sprintf("holding %s after %v", part.Path(), waited.Round(time.Millisecond)),
			problem: waited >= noticeAfter, // it has said that it waits
		})
	}
	return lease, nil
}

// A planError says that grace and margin do not fit.
type planError struct{ error }

// refused reports why there is no lock, and returns the status.
func (j *job) refused(t *teller, client *framework.Client, err error) int {
	if came := (*signaled)(nil); errors.As(err, &came) {
		t.tell(Event{Event: "failed", Signal: came.signal.String(), text: came.Error()})
		return came.code()
	}
	code := ExitCode(err)
	switch plan := (*planError)(nil); {
	case errors.As(err, &plan):
		code = ExitConfig
	case errors.Is(err, errInputEnded):
		code = j.busyCode
	case code == ExitBusy:
		code = j.busyCode
		if holders := j.holders(client); holders != "" {
			err = fmt.Errorf("%w: %s", err, holders)
		}
	}
	t.tell(Event{Event: "failed", Reason: err.Error()})
	if !t.json && (!t.quiet || code != j.busyCode) {
		failed(t.errs, t.command, code, err)
	}
	return code
}

// holders says who holds what the job did not get, as far as the servers answer that soon.
func (j *job) holders(client *framework.Client) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var all []string
	for _, path := range j.paths {
		lock, err := survey.Read(ctx, client, path)
		if err != nil {
			continue // the lock may be free by now
		}
		for _, c := range lock.Holders() {
			all = append(all, fmt.Sprintf("%s is held by %s since %s", path, c.Who, c.Since.Local().Format(time.DateTime)))
		}
	}
	const most = 3
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("%d more", len(all)-most))
	}
	return strings.Join(all, ", ")
}

// release releases the lock. What a loss means was reported before.
func (t *teller) release(lease *locks.Lease) {
	err := lease.Release()
	switch {
	case errors.Is(err, locks.ErrLeaseLost):
	case err != nil:
		t.tell(Event{
			Event: "released", Reason: err.Error(), problem: true,
			text: fmt.Sprintf("the lock could not be released; it ends with the session: %v", err),
		})
	default:
		t.tell(Event{Event: "released", text: "released"})
	}
}

// ends reports whether a signal ends a wait.
func ends(s os.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP || s == syscall.SIGQUIT
}
