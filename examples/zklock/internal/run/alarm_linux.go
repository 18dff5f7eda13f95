package run

import (
	"syscall"
	"time"
	"unsafe"
)

// An alarm is a timer of the kernel that continues this process by SIGCONT. A process that was stopped does nothing for
// its lease, and if the front and the keeper both are, the command would outlive it. The kernel sends the signal though
// no process runs:
//
//	the front and the keeper are stopped: no process extends the lease or ends the command
//	the keeper goes on when TERM is due, and does its work as if it had not been stopped
//	the front goes on when the keeper should have done it, and ends what remains
//
// A process that is not stopped moves its alarm on with each look, so that it gets no signal; one that is stopped again
// gets it again.
type alarm struct {
	timer int32
	ok    bool
	at    time.Duration // as last set
}

// sigevent is the beginning of struct sigevent, and room for the rest.
type sigevent struct {
	_      uintptr
	signal int32
	notify int32 // 0: a signal
	_      [48]byte
}

// newAlarm makes an alarm that is not set. The end of the process removes it, a new program too. Without timers in the
// kernel there is none, and what is stopped stays so.
func newAlarm() *alarm {
	a := &alarm{}
	event := sigevent{signal: int32(syscall.SIGCONT)}
	_, _, errno := syscall.Syscall(syscall.SYS_TIMER_CREATE,
		clockBoottime, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&a.timer)))
	a.ok = errno == 0
	return a
}

// set has the process go on at a time of now(), once.
func (a *alarm) set(at time.Duration) {
	if a == nil || !a.ok || at == a.at {
		return
	}
	a.at = at
	const absolute = 1 // TIMER_ABSTIME
	// the first is the interval: none. A time of 0 would unset it
	times := [2]syscall.Timespec{{}, syscall.NsecToTimespec(int64(max(at, 1)))}
	_, _, _ = syscall.Syscall6(syscall.SYS_TIMER_SETTIME,
		uintptr(a.timer), absolute, uintptr(unsafe.Pointer(&times)), 0, 0, 0)
}
