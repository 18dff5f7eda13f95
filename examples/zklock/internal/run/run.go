//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

// Package run is zklock run: a command under a lock.
package run

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/manual"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Main runs a command under a lock, and returns the status of the process. The process is its own: it waits for every
// child, and handles signals.
func Main(args []string, out, errs io.Writer) int {
	j, err := parse(args, os.Getenv)
	if errors.Is(err, flag.ErrHelp) {
		manual.Print(out, Help, Flags())
		return 0
	}
	if err != nil {
		return failed(errs, ExitUsage, err)
	}
	t := &teller{errs: errs, json: j.json, verbose: j.verbose, quiet: j.quiet}
	if j.statusFD >= 0 {
		file, err := inherited(fmt.Sprint(j.statusFD))
		if err != nil {
			return failed(errs, ExitUsage, fmt.Errorf("-status-fd: %w", err))
		}
		t.status = file
	}
	if code, err := j.find(); err != nil {
		return failed(errs, code, err)
	}
	around := heldAround(os.Getenv)
	for _, path := range j.paths {
		if !slices.Contains(around, path) {
			continue
		}
		if j.reenter {
			err := syscall.Exec(j.program, j.command, os.Environ())
			return failed(errs, ExitCannotRun, fmt.Errorf("%s: %w", j.program, err))
		}
		return failed(errs, ExitUsage, fmt.Errorf("this process runs under a zklock that holds %s, and would wait for itself; "+
			"-reenter runs the command without locking again", path))
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, handled()...)
	return j.run(t, around, signals)
}

func failed(errs io.Writer, code int, err error) int {
	_, _ = fmt.Fprintf(errs, "zklock run: %v\n", Printable(err.Error()))
	if code == ExitUsage {
		_, _ = fmt.Fprintln(errs, "zklock run -h has the manual")
	}
	return code
}

// find looks the command up before anything is locked.
func (j *job) find() (code int, err error) {
	j.program, err = exec.LookPath(j.command[0])
	switch {
	case err == nil:
		return 0, nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return ExitNotFound, err
	default:
		return ExitCannotRun, err
	}
}

// run is everything from the connection to the release.
func (j *job) run(t *teller, around []string, signals <-chan os.Signal) int {
	var debug *slog.Logger
	if j.debug {
		debug = slog.New(slog.NewTextHandler(t.errs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	client, err := j.servers.Client(debug)
	if err != nil {
		return failed(t.errs, ExitUsage, err)
	}
	defer func() { _ = client.Close() }()
	keeper, err := newFront(j, t) // now, so that nothing but a fork lies between the grant and the command
	if err != nil {
		return failed(t.errs, ExitSoftware, err)
	}
	lease, came, err := j.await(client, keeper, signals)
	if came != nil {
		keeper.dismiss()
		if err == nil {
			_ = lease.Release() // if it fails, the client's end does it
		}
		number, _ := came.(syscall.Signal)
		t.tell(Event{Event: "failed", Signal: came.String(), text: "ended by a signal before the command was started: " + came.String()})
		return exitSignal + int(number)
	}
	if err != nil {
		keeper.dismiss()
		return j.refused(t, err)
	}
	return j.under(client, keeper, lease, around, signals)
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

// under runs the command, and releases the lock.
func (j *job) under(client *framework.Client, f *front, lease *locks.Lease, around []string, signals <-chan os.Signal) int {
	begun := time.Now()
	session, err := client.Session(context.Background()) // there is one: it has a lease
	if err != nil {
		f.dismiss()
		return failed(f.errs, ExitCode(err), err)
	}
	code := f.hold(lease, f.command(environment(os.Environ(), j, around, lease, session.ID(), session.Timeout())), signals)
	if f.terminal {
		takeTerminal(syscall.Getpgrp())
	}
	if rest := j.minHold - time.Since(begun); rest > 0 && !f.noLinger {
		linger(lease, rest, signals)
	}
	err = lease.Release()
	if errors.Is(err, locks.ErrLeaseLost) {
		return code // which has been told
	}
	if err != nil {
		f.tell(Event{
			Event: "released", Reason: err.Error(), problem: true,
			text: fmt.Sprintf("the lock could not be released; it ends with the session: %v", err),
		})
		return code
	}
	f.tell(Event{Event: "released", text: "released"})
	return code
}

// linger keeps the lock after a command that was quicker than -min-hold.
func linger(lease *locks.Lease, rest time.Duration, signals <-chan os.Signal) {
	timer := time.NewTimer(rest)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case <-lease.Done():
			return
		case s := <-signals:
			if ends(s) {
				return
			}
		}
	}
}
