//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// heard takes a report of the keeper.
func (f *front) heard(r report, open bool) {
	spare := milliseconds(r.Spare)
	switch {
	case !open:
		f.reports = nil
		f.judge()
	case r.Started != 0:
		f.commandStarted(r)
	case r.Failed != "":
		f.gone, f.exited, f.code = true, true, startCode(r)
		f.tell(Event{
			Time: r.At, Event: "failed", Reason: r.Failed, problem: true,
			text: fmt.Sprintf("%s could not be started: %s", f.job.command[0], r.Failed),
		})
	case r.Warned:
		f.warned = true
		f.tell(Event{
			Time: r.At, Event: "warned", Spare: spare, problem: true,
			text: "no answer from the servers: TERM to the command, " + spared(r.Spare),
		})
	case r.Killed:
		// without a warning, if the keeper slept through the time for it
		f.lost = f.lost || f.warned || r.Spare <= f.plan.margin
		f.tellKilled(Event{
			Time: r.At, Spare: spare,
			text: "KILL to the command, " + spared(r.Spare),
		})
	case r.Refused != nil:
		f.refuse(r.At, *r.Refused)
	case r.Resumed:
		f.tell(Event{Time: r.At, Event: "resumed", text: "a holder of a lock is not stopped: the command goes on", problem: true})
	case r.Exited:
		f.commandExited(r)
	case len(r.Left) > 0:
		what := map[string]string{"kill": "killing", "wait": "waiting for"}[f.job.leftovers]
		f.tell(Event{
			Time: r.At, Event: "left", Processes: r.Left, problem: true,
			text: "the command left processes behind, " + what + " " + strings.Join(r.Left, ", "),
		})
	case r.Gone:
		f.gone = true
		f.tell(Event{Time: r.At, Event: "gone", Spare: spare})
	}
}

// spared says when something was done, by how long the lease was to last from then. What was late is never reported as
// if it had been in time.
func spared(left time.Duration) string {
	if left <= 0 {
		return fmt.Sprintf("%v after the lock had ended", -left.Round(time.Millisecond))
	}
	return fmt.Sprintf("%v before the lock ends", left.Round(time.Millisecond))
}

func (f *front) commandStarted(r report) {
	f.started = true
	text := fmt.Sprintf("started process %d in the cgroup %s, which ends whatever is in it", r.Started, r.Group)
	if r.Group == "" {
		text = fmt.Sprintf("started process %d without a cgroup of its own: %s", r.Started, r.NoGroup)
	} else {
		f.group = &cgroup{dir: r.Dir, path: r.Group}
	}
	f.tell(Event{Time: r.At, Event: "started", PID: r.Started, Cgroup: r.Group, text: text})
}

func (f *front) commandExited(r report) {
	f.exited, f.code = true, r.Code
	e := Event{Time: r.At, Event: "exited", Spare: milliseconds(r.Spare)}
	if r.Signal != 0 {
		f.code = exitSignal + r.Signal
		e.Signal = syscall.Signal(r.Signal).String()
		e.text = "the command was ended by a signal: " + e.Signal
	} else {
		e.Code = &f.code
		e.text = fmt.Sprintf("the command ended with status %d", f.code)
	}
	f.lost = f.lost || f.warned && f.code != 0
	f.tell(e)
}

// ended deals with the end of a child of the front: the keeper, or what a keeper that was killed has left.
func (f *front) ended(pid int, open bool) {
	if !open {
		f.family.events = nil
		return
	}
	if _, ended := f.family.reap(pid); ended {
		f.unkept = true
		f.judge()
	}
}

// judge finds out whether the keeper ended before its work was done. Its last report may be read later than its end is
// noticed.
func (f *front) judge() {
	if !f.unkept || f.reports != nil || f.gone || f.sweep {
		return
	}
	f.sweep = true
	f.sweepUp()
	if f.started {
		f.lost = f.lost || !f.exited
		f.tellKilled(Event{Reason: "keeper", text: "the keeper was killed: killing what it kept"})
	}
}

// status is zklock's exit status.
func (f *front) status() int {
	switch {
	case f.refused.ever:
		return ExitUnended
	case f.lost:
		return f.job.lostCode
	case !f.exited:
		return ExitSoftware
	default:
		return f.code
	}
}

// startCode is the status that a shell gives for the same failure.
func startCode(r report) int {
	switch {
	case r.Late:
		return ExitLost
	case syscall.Errno(r.Errno) == syscall.ENOENT:
		return ExitNotFound
	default:
		return ExitCannotRun
	}
}
