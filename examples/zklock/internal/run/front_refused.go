//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A refusal is what the front knows of processes that cannot be ended: the system does not let zklock signal them.
type refusal struct {
	living  []string // when last tried
	ever    bool     // the status says so, although they have ended
	beside  bool     // it was said that they may run beside the next holder
	signals int      // signals that ask zklock to end, while such processes live
}

// sweepUp sends KILL to what a keeper that is gone has left.
func (f *front) sweepUp() {
	refused := f.family.signal(syscall.SIGKILL)
	if f.group.kill() {
		refused = outside(f.group, refused)
	}
	f.refuse(time.Now(), names(refused))
}

// refuse takes note of the processes that live and cannot be signalled.
func (f *front) refuse(at time.Time, living []string) {
	if slices.Equal(living, f.refused.living) {
		return
	}
	f.refused.living = living
	if len(living) == 0 {
		return
	}
	f.refused.ever = true
	f.tell(Event{
		Time: at, Event: "refused", Processes: living, Reason: advice, problem: true,
		text: fmt.Sprintf("may not signal PID %s: ending the command, and keeping the lock until all of it has ended or a second signal comes; %s",
			strings.Join(living, ", PID "), advice),
	})
}

// tellKilled says that KILL was sent. Nothing is killed as long as a part of it lives.
func (f *front) tellKilled(e Event) {
	e.Event, e.problem = "killed", true
	if len(f.refused.living) > 0 {
		e.Event, e.Processes = "unended", f.refused.living
		e.text = fmt.Sprintf("%s; could not end PID %s", e.text, strings.Join(e.Processes, ", PID "))
	}
	f.tell(e)
}

// tellBeside says, once for each loss of the lease, which processes may run beside the next holder.
func (f *front) tellBeside() {
	due := f.over || now() >= f.valid-f.plan.margin-f.plan.grace
	if !due || len(f.refused.living) == 0 {
		f.refused.beside = f.refused.beside && due
		return
	}
	if f.refused.beside {
		return
	}
	f.refused.beside = true
	f.tell(Event{
		Event: "beside", Processes: f.refused.living, Spare: milliseconds(f.valid - now()), problem: true,
		text: besideText(f.refused.living),
	})
}

// leaves reports whether a signal ends zklock before its command: the second one while processes live that cannot be
// ended. Otherwise zklock would wait for as long as they live. The lock is not released beside them: it ends with the
// session, which no process extends.
func (f *front) leaves(s os.Signal) bool {
	if !ends(s) || f.gone {
		return false
	}
	if len(f.refused.living) == 0 {
		if s == syscall.SIGTERM { // what cannot be ended may be found by passing this on
			f.refused.signals = 1
		}
		return false
	}
	f.refused.signals++
	text := strings.Join(f.refused.living, ", PID ")
	if f.refused.signals == 1 {
		f.tell(Event{
			Event: "kept", Processes: f.refused.living, problem: true,
			text: fmt.Sprintf("keeping the lock while PID %s lives; a second signal ends zklock without it", text),
		})
		return false
	}
	f.abandoned = true
	f.tell(Event{
		Event: "beside", Processes: f.refused.living, problem: true,
		text: fmt.Sprintf("could not end PID %s, which lives on; the lock ends with the session", text),
	})
	f.order(order{Leave: true})
	f.hangUp()
	return true
}
