package queue

import (
	"context"
	"time"
)

// A Lateness is of a waiting acquire. After a session timeout it is late: no holder that was dead when it began
// explains its wait, unless that one's timeout is longer. It is late again whenever its wait has doubled.
type Lateness struct {
	began time.Time
	next  time.Duration
	timer *time.Timer // nil while it does not wait
	told  bool
}

// Start notes that the acquire waits, and has signal called whenever it may be late. It may be repeated. Stop must
// follow.
func (l *Lateness) Start(patience time.Duration, signal func()) {
	if l.timer != nil {
		return
	}
	if l.began.IsZero() {
		l.began, l.next = time.Now(), patience
	}
	l.timer = time.AfterFunc(time.Until(l.began.Add(l.next)), signal)
}

// Note reports whether the acquire is late since the last call, and whether it is so for the first time.
func (l *Lateness) Note() (waited time.Duration, late, first bool) {
	if waited = time.Since(l.began); waited < l.next {
		return waited, false, false
	}
	first, l.told = !l.told, true
	for l.next <= waited {
		l.next *= 2
	}
	l.timer.Reset(l.next - waited)
	return waited, true, first
}

// Stop pauses the wait. Another Start goes on with it.
func (l *Lateness) Stop() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// StartWaiting notes that the contender waits.
func (c *Contender) StartWaiting() {
	c.WatchOwn()
	c.Progress.Waits = true
	if c.Lateness == nil {
		c.Lateness = new(Lateness)
	}
	c.Lateness.Start(c.Session.Timeout(), c.Waiter.Signal)
}

// TellLate calls Config.Late if the contender is late.
func (c *Contender) TellLate(ctx context.Context, at Progress) {
	waited, late, first := c.Lateness.Note()
	if !late {
		return
	}
	c.Progress.Late = true
	if report := c.Queue.Config.Late; report != nil {
		report(ctx, at, waited, first)
	}
}
