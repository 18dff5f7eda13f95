//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// Keep is the keeper: it starts a command, extends its time as the front says, and ends it with all that descends from
// it when the time is over or the front is gone. args are the numbers of two inherited descriptors, and words for those
// who list processes. It returns the status of the process.
func Keep(args []string) int {
	runtime.LockOSThread() // the command is killed when the thread that started it ends, so it has to be one that stays
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "zklock keep: only zklock run starts this")
		return ExitUsage
	}
	in, err1 := ordersPipe(args[0])
	out, err2 := inherited(args[1])
	if err := errors.Join(err1, err2); err != nil {
		fmt.Fprintln(os.Stderr, "zklock keep: only zklock run starts this:", err)
		return ExitUsage
	}
	adoptOrphans()
	// What the front gets it passes on, so this process hears it twice or not at all: here it is a reason to look.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, handled()...)
	orders, err := newInbox(in)
	if err != nil {
		fmt.Fprintln(os.Stderr, "zklock keep: the pipe from zklock run cannot be read:", err)
		return ExitSoftware
	}
	k := &keeper{inbox: orders, out: json.NewEncoder(out), alarm: newAlarm(), now: now}
	k.run(signals)
	return 0
}

// ordersPipe opens the one that orders come through, and does not let reading block.
func ordersPipe(number string) (*os.File, error) {
	fd, err := strconv.Atoi(number)
	if err == nil {
		err = syscall.SetNonblock(fd, true) // before there is a file, which goes by it
	}
	if err != nil {
		return nil, err
	}
	return inherited(number)
}

// inherited opens a descriptor that the front left open; no child inherits it.
func inherited(number string) (*os.File, error) {
	fd, err := strconv.Atoi(number)
	if err != nil {
		return nil, err
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); errno != 0 {
		return nil, fmt.Errorf("descriptor %d: %w", fd, errno)
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "pipe"), nil
}

// A keeper has a command. All of it happens on one goroutine: so no signal falls between the start of a process and the
// knowledge of it.
type keeper struct {
	inbox   *inbox
	out     *json.Encoder
	alarm   *alarm
	now     func() time.Duration
	command *command
	family  *family
	group   *cgroup // the command's; nil if there is none
	noGroup error   // why
	plan    plan
	s       situation
	exited  bool
	killed  bool
	probed  bool          // since the start
	alone   bool          // the front is gone
	refused []string      // what could not be signalled when last tried
	pause   time.Duration // between two rounds of KILL
}

// run returns when there is nothing to keep any more. A process that goes on after a stop gets SIGCONT, and looks at
// once, though its timer was set before the stop.
func (k *keeper) run(signals <-chan os.Signal) {
	timer := time.NewTimer(0)
	for news := k.inbox.news; ; {
		again, ok := k.look()
		if !ok {
			return
		}
		timer.Reset(again)
		var events chan int
		if k.family != nil {
			events = k.family.events
		}
		select {
		case _, open := <-news:
			if !open {
				news = nil
			}
		case pid, open := <-events:
			if !open {
				k.group.remove()
				k.tell(report{Gone: true, Spare: k.s.valid - k.now()})
				return
			}
			k.died(pid)
		case <-signals:
		case <-timer.C:
			if k.abandons() {
				return
			}
			if k.family != nil && !k.probed {
				k.probed = true
				k.probe()
			}
		}
	}
}

// look follows the orders that have come, and does what is due by them. It returns when to look again, and whether
// there is something to keep. The clock is read before the orders:
//
//	the keeper takes the orders, and is stopped; the front renews the lease, and says so
//	the keeper goes on: by the clock of now, and by the orders of then, its command would get TERM
//
// By the earlier clock nothing is due yet. The time since then counts as waited, so the next look comes at once.
func (k *keeper) look() (again time.Duration, ok bool) {
	k.s.now = k.now()
	orders, gone := k.inbox.take()
	for _, o := range orders {
		if !k.obey(o) {
			return 0, false
		}
	}
	if gone { // no front extends the lease
		k.s.over, k.alone = true, true
	}
	if k.family == nil {
		return time.Hour, !gone
	}
	again = k.act()
	k.setAlarm()
	return again, true
}

// setAlarm has this process, should it be stopped, go on when it has something to do.
func (k *keeper) setAlarm() {
	s := k.s
	s.now = k.now()
	k.alarm.set(k.plan.wake(k.plan.due(s), s.now))
}

// act does what was due when the keeper looked at the clock, and returns when to look again.
func (k *keeper) act() time.Duration {
	do, again := k.plan.next(k.s)
	switch {
	case do == kill || k.killed || k.exited && !k.command.KeepLeftovers:
		return k.kill()
	case do == warn:
		k.s.warned = true
		k.signal(syscall.SIGTERM)
		k.tell(report{Warned: true, Spare: k.s.valid - k.now()})
	}
	return max(0, again-(k.now()-k.s.now))
}

// kill sends KILL to all there are, and returns when to do it again: a process can have started another one meanwhile.
func (k *keeper) kill() time.Duration {
	first := report{At: time.Now(), Killed: true, Spare: k.s.valid - k.now()}
	k.signal(syscall.SIGKILL)
	if !k.killed && !k.exited { // behind what could not be killed, if there is any
		k.killed = true
		k.tell(first)
	}
	k.pause = min(max(2*k.pause, time.Millisecond), 100*time.Millisecond)
	return k.pause
}

// obey follows an order. It reports whether there is something to keep.
func (k *keeper) obey(o order) bool {
	renewed := o.Valid != 0 && o.Valid != k.s.valid
	if renewed {
		k.s.valid, k.s.warned = o.Valid, false
	}
	if o.Start != nil {
		return k.start(o.Start)
	}
	if k.family == nil {
		return true
	}
	if o.Signal != 0 {
		k.signal(syscall.Signal(o.Signal))
	}
	if o.Stop {
		if k.s.stopped == 0 {
			k.s.stopped = k.now()
		}
		k.signal(syscall.SIGTERM)
	}
	if renewed {
		k.probe()
	}
	k.s.over = k.s.over || o.Kill
	return !o.Leave
}

func (k *keeper) tell(r report) {
	if r.At.IsZero() {
		r.At = time.Now()
	}
	_ = k.out.Encode(r) // the front may be gone
}
