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

// Start notes that the acquire waits. It may be repeated. Stop must follow.
func (l *Lateness) Start(patience time.Duration) {
	if l.timer != nil {
		return
	}
	if l.began.IsZero() {
		l.began, l.next = time.Now(), patience
	}
	l.timer = time.NewTimer(time.Until(l.began.Add(l.next)))
}

// Late is readable when the acquire is late. Note must follow.
func (l *Lateness) Late() <-chan time.Time { return l.timer.C }

// Note reports whether the acquire is late for the first time.
func (l *Lateness) Note() (waited time.Duration, first bool) {
	waited, first = time.Since(l.began), !l.told
	l.told = true
	for l.next <= waited {
		l.next *= 2
	}
	l.timer.Reset(l.next - waited)
	return waited, first
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
	c.Lateness.Start(c.Session.Timeout())
}

// TellLate calls Config.Late.
func (c *Contender) TellLate(ctx context.Context, at Progress) {
	waited, first := c.Lateness.Note()
	c.Progress.Late = true
	if late := c.Queue.Config.Late; late != nil {
		late(ctx, at, waited, first)
	}
}
