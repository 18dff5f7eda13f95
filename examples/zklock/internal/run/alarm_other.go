//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package run

import "time"

// An alarm does nothing here: what is stopped stays so until it gets SIGCONT.
type alarm struct{}

func newAlarm() *alarm { return &alarm{} }

func (*alarm) set(time.Duration) {}
