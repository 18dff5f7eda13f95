package server

import (
	"os"

	"golang.org/x/sys/unix"
)

// An alarm rings at a time, exactly, and the runtime waits for it as for a connection. Go's own timers are late by up
// to a millisecond on an idle machine. A thread that sleeps in the kernel is exact, but keeps one of the processors
// that the runtime has from everybody else until that is noticed, which takes milliseconds, too.
type alarm struct {
	fd   int
	file *os.File
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	return &alarm{fd: fd, file: os.NewFile(uintptr(fd), "alarm")}, nil
}

// wait blocks until due, in nanoseconds of CLOCK_MONOTONIC; not at all if that is past.
func (a *alarm) wait(due int64) error {
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(due)}
	if err := unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &at, nil); err != nil {
		return os.NewSyscallError("timerfd_settime", err)
	}
	_, err := a.file.Read(make([]byte, 8)) // how often it has rung
	return err
}

func (a *alarm) close() { a.file.Close() }
