//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

// A front is the process that the user has started. It holds the lease, and has a keeper hold the command.
type front struct {
	*teller
	job     *job
	plan    plan
	family  *family // the keeper, and what remains if that is gone
	alarm   *alarm
	orders  *json.Encoder
	reports <-chan report
	hangUp  func() // closes the pipe to the keeper

	valid     time.Duration // as last sent
	started   bool
	exited    bool // the command has
	gone      bool // the keeper has said that nothing remains
	unkept    bool // the keeper has ended
	sweep     bool // the front itself ends what remains
	code      int
	lost      bool // the lease ended, or was about to, before the command
	warned    bool
	noLinger  bool // a signal came when nothing of the command remained, which ends -min-hold
	terminal  bool
	over      bool // the lease has ended
	refused   refusal
	group     *cgroup // the command's; nil if there is none
	abandoned bool    // processes live on that cannot be ended: nothing is released
}

// newFront starts a keeper, which waits for orders. It inherits what this process has inherited, and standard input and
// output.
func newFront(j *job, t *teller) (*front, error) {
	adoptOrphans()
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		program = "/proc/self/exe" // the same one, also if it was replaced meanwhile
	}
	var to, from [2]int
	if err := errors.Join(syscall.Pipe(to[:]), syscall.Pipe(from[:])); err != nil {
		return nil, err
	}
	syscall.CloseOnExec(to[1])
	syscall.CloseOnExec(from[0])
	argv := append([]string{"zklock", "keep", strconv.Itoa(to[0]), strconv.Itoa(from[1])}, j.paths...)
	pid, err := syscall.ForkExec(program, argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
		// what the terminal or a job's end sends to this group is for the front alone
		Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	_, _ = syscall.Close(to[0]), syscall.Close(from[1])
	if err != nil {
		return nil, fmt.Errorf("the keeper could not be started: %w", err)
	}
	in, out := os.NewFile(uintptr(from[0]), "pipe"), os.NewFile(uintptr(to[1]), "pipe")
	reports := make(chan report)
	go func() { // ends with the keeper
		defer close(reports)
		for lines := json.NewDecoder(in); ; {
			var r report
			if lines.Decode(&r) != nil {
				return
			}
			reports <- r
		}
	}()
	return &front{
		teller: t, job: j, alarm: newAlarm(), family: newFamily(pid), orders: json.NewEncoder(out), reports: reports, hangUp: func() { out.Close() },
	}, nil
}

// dismiss ends a keeper that has no command.
func (f *front) dismiss() {
	f.hangUp()
	f.drain()
}

// drain waits until the keeper, and whatever it left, has gone.
func (f *front) drain() {
	for f.reports != nil || f.family.events != nil {
		select {
		case r, open := <-f.reports:
			f.heard(r, open)
		case pid, open := <-f.family.events:
			f.ended(pid, open)
		case <-time.After(50 * time.Millisecond):
			if f.sweep {
				f.sweepUp()
			}
		}
	}
}

// hold runs the command while the lease lasts. It returns when nothing of the command remains.
func (f *front) hold(lease *locks.Lease, c *command, signals <-chan os.Signal) int {
	f.extend(lease, order{Start: c})
	f.setAlarm()
	tick := time.NewTicker(max(f.plan.margin/2, time.Millisecond))
	defer tick.Stop()
	over, asked := lease.Done(), lease.RevocationRequested()
	for !f.abandoned && (f.reports != nil || f.family.events != nil) {
		select {
		case <-over:
			over = nil
			f.end(lease.Err())
		case <-asked:
			asked = nil
			f.leave()
		case s := <-signals:
			f.pass(s)
		case r, open := <-f.reports:
			f.heard(r, open)
		case pid, open := <-f.family.events:
			f.ended(pid, open)
		case <-tick.C:
			if over != nil {
				f.extend(lease, order{})
			}
			f.check()
			f.tellBeside()
		}
	}
	return f.status()
}

// extend sends the keeper how long the lease is valid. The clock is read first: a suspend in between makes the end too
// early, never too late.
func (f *front) extend(lease expiring, o order) {
	at := now()
	left := time.Until(lease.ValidUntil())
	if lease.Err() == nil && (at+left > f.valid+time.Millisecond || f.valid == 0) {
		f.valid = at + left
		o.Valid = f.valid
		if f.warned && !f.exited {
			f.warned = false // the command may live on: it is not ended for a later loss yet
			f.tell(Event{Event: "recovered", Spare: milliseconds(left), text: "the servers answer again: the lock is kept", problem: true})
		}
	}
	if o.Valid != 0 || o.Start != nil {
		f.order(o)
	}
}

func (f *front) order(o order) { _ = f.orders.Encode(o) } // a keeper that is gone is noticed as such

// end kills everything: the lease has ended, so others may hold the lock.
func (f *front) end(reason error) {
	if f.gone || errors.Is(reason, locks.ErrReleased) {
		return
	}
	f.over = true
	f.order(order{Kill: true})
	f.lost = f.lost || !f.exited
	f.tell(lostEvent(reason))
}

// leave passes a request to leave on to the command.
func (f *front) leave() {
	sig := revocation[f.job.onRevoke]
	f.tell(Event{Event: "asked", text: "another process asks for the lock", problem: true})
	if sig != 0 {
		f.order(order{Signal: sig})
	}
}

// pass passes a signal on.
func (f *front) pass(s os.Signal) {
	number, ok := s.(syscall.Signal)
	if !ok {
		return
	}
	if f.leaves(s) {
		return
	}
	f.noLinger = f.noLinger || f.gone && ends(s)
	//exhaustive:ignore
	switch number {
	case syscall.SIGTSTP:
		return
	case syscall.SIGTERM:
		f.order(order{Stop: true})
	case syscall.SIGCONT:
		if group, ok := foreground(); ok && f.terminal && group == syscall.Getpgrp() {
			takeTerminal(f.family.leader)
		}
		f.order(order{Signal: int(number)})
	default:
		f.order(order{Signal: int(number)})
	}
}

// command is the order for the keeper.
func (f *front) command(env []string) *command {
	group, onTerminal := foreground()
	f.terminal = onTerminal && group == syscall.Getpgrp() && !f.job.emptyStdin
	return &command{
		Path: f.job.program, Args: slices.Clone(f.job.command), Env: env, Grace: f.plan.grace, Margin: f.plan.margin,
		Foreground: f.terminal, EmptyStdin: f.job.emptyStdin, KeepLeftovers: f.job.leftovers == "wait",
		AllowSetuid: f.job.allowSetuid,
	}
}
