//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

// Package run is zklock run: a command under a lock.
package run

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/manual"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Supported is whether this system has zklock run.
const Supported = true

// Main runs a command under a lock, and returns the status of the process. The process is its own: it waits for every
// child, and handles signals.
func Main(args []string, out, errs io.Writer) int {
	j, err := parse(args, os.Getenv)
	if errors.Is(err, flag.ErrHelp) {
		manual.Print(out, Help, Flags())
		return 0
	}
	if err != nil {
		return failed(errs, "run", ExitUsage, err)
	}
	t := j.teller("run", errs)
	if j.statusFD >= 0 {
		file, err := inherited(fmt.Sprint(j.statusFD))
		if err != nil {
			return failed(errs, "run", ExitUsage, fmt.Errorf("-status-fd: %w", err))
		}
		t.status = file
	}
	if code, err := j.find(); err != nil {
		return failed(errs, "run", code, err)
	}
	around := heldAround(os.Getenv)
	if path := j.isWithin(around); path != "" {
		if j.reenter {
			err := syscall.Exec(j.program, j.command, os.Environ())
			return failed(errs, "run", ExitCannotRun, fmt.Errorf("%s: %w", j.program, err))
		}
		return failed(errs, "run", ExitUsage, fmt.Errorf("%w; -reenter runs the command without locking again", errWithin(path)))
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, handled()...)
	return j.run(t, around, signals)
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
	client, err := j.client(t)
	if err != nil {
		return failed(t.errs, "run", ExitUsage, err)
	}
	var keeper *front
	defer func() {
		if keeper == nil || !keeper.abandoned {
			_ = client.Close()
		} // an abandoned keeper's session keeps the lock while processes that could not be ended may live
	}()
	keeper, err = newFront(j, t) // now, so that nothing but a fork lies between the grant and the command
	if err != nil {
		return failed(t.errs, "run", ExitSoftware, err)
	}
	acquire := func(ctx context.Context) (*locks.Lease, error) {
		return j.connectAndAcquire(ctx, client, t, &keeper.plan)
	}
	lease, err := await(acquire, signals, nil)
	if err != nil {
		keeper.dismiss()
		return j.refused(t, client, err)
	}
	return j.under(client, keeper, lease, around, signals)
}

// under runs the command, and releases the lock.
func (j *job) under(client *framework.Client, f *front, lease *locks.Lease, around []string, signals <-chan os.Signal) int {
	begun := time.Now()
	session, err := client.Session(context.Background()) // there is one: it has a lease
	if err != nil {
		f.dismiss()
		return failed(f.errs, "run", ExitCode(err), err)
	}
	if !f.startsBesideNone() {
		f.dismiss()
		f.release(lease)
		return ExitOrphans
	}
	env := environment(os.Environ(), j, around, lease, session.ID(), session.Timeout())
	defer func() { f.group.remove() }() // the keeper does it, unless it was killed
	code := f.hold(lease, f.command(f.withKeepers(env, around)), signals)
	if f.terminal {
		takeTerminal(syscall.Getpgrp())
	}
	if f.abandoned {
		return code
	}
	if rest := j.minHold - time.Since(begun); rest > 0 && !f.noLinger {
		linger(lease, rest, signals)
	}
	f.release(lease)
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
