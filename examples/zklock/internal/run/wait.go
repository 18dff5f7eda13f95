//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func failed(errs io.Writer, code int, err error) int {
	_, _ = fmt.Fprintf(errs, "zklock run: %v\n", Printable(err.Error()))
	if code == ExitUsage {
		_, _ = fmt.Fprintln(errs, "zklock run -h has the manual")
	}
	return code
}

// await connects and waits for the lock, until a signal comes.
func (j *job) await(client *framework.Client, keeper *front, signals <-chan os.Signal) (*locks.Lease, os.Signal, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type result struct {
		lease *locks.Lease
		err   error
	}
	done := make(chan result, 1)
	go func() { // ends before await does
		lease, err := j.connectAndAcquire(ctx, client, keeper)
		done <- result{lease, err}
	}()
	var came os.Signal
	for {
		select {
		case r := <-done:
			for came == nil { // one that came together with the lock: nothing was started yet
				select {
				case s := <-signals:
					if ends(s) {
						came = s
					}
					continue
				default:
				}
				break
			}
			return r.lease, came, r.err
		case s := <-signals:
			if !ends(s) {
				continue
			}
			if came != nil {
				// all of them are; a second one does not wait
				os.Exit(exitSignal + int(came.(syscall.Signal))) //nolint:forcetypeassert,errcheck,gocritic // nothing is to be tidied
			}
			came = s
			cancel()
		}
	}
}

func (j *job) connectAndAcquire(ctx context.Context, client *framework.Client, keeper *front) (*locks.Lease, error) {
	session, err := client.Session(ctx)
	if err != nil {
		return nil, err
	}
	if keeper.plan, err = newPlan(session.Timeout(), j.grace, j.margin); err != nil {
		return nil, &planError{err}
	}
	begun := time.Now()
	lease, err := j.acquire(ctx, client, keeper.teller)
	if err != nil {
		return nil, err
	}
	settle(ctx, lease, keeper.plan.room(session.Timeout()), session.Timeout()/2)
	parts := lease.Parts()
	if parts == nil {
		parts = []*locks.Lease{lease}
	}
	waited := time.Since(begun)
	for _, part := range parts {
		keeper.tell(Event{
			Event: "acquired", Path: part.Path(), Node: part.NodeName(), Token: part.FencingToken(), Session: sessionID(session.ID()),
			Waited: *milliseconds(waited), text: fmt.Sprintf("holding %s after %v", part.Path(), waited.Round(time.Millisecond)),
		})
	}
	return lease, nil
}

// A planError says that grace and margin do not fit.
type planError struct{ error }

// refused tells why there is no lock, and returns the status.
func (j *job) refused(t *teller, err error) int {
	code := ExitCode(err)
	if plan := (*planError)(nil); errors.As(err, &plan) {
		code = ExitConfig
	}
	if code == ExitBusy {
		code = j.busyCode
	}
	t.tell(Event{Event: "failed", Reason: err.Error()})
	if !t.json && (!t.quiet || code != j.busyCode) {
		failed(t.errs, code, err)
	}
	return code
}

// ends reports whether a signal ends a wait.
func ends(s os.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP || s == syscall.SIGQUIT
}
