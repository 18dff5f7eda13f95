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
