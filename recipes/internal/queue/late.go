package queue

import (
	"context"
	"time"
)

// A Lateness is of an acquire that waits. Most waits are short. One that lasts for a session timeout outlasts the
// session of a holder that died, so it has another reason. After that it is late again each time that its wait has
// doubled. The zero value has not begun to wait.
type Lateness struct {
	began time.Time
	next  time.Duration // of waiting, when it is late
	timer *time.Timer   // nil while it does not wait
	told  bool
}

// Start notes that the acquire waits from now on, unless it does already. Stop must follow.
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

// Note returns how long the acquire has waited, and whether it is late for the first time.
func (l *Lateness) Note() (waited time.Duration, first bool) {
	waited, first = time.Since(l.began), !l.told
	l.told = true
	for l.next <= waited {
		l.next *= 2
	}
	l.timer.Reset(l.next - waited)
	return waited, first
}

// Stop ends the wait. A further Start goes on with it.
func (l *Lateness) Stop() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// StartWaiting notes that the contender waits from now on, unless it does already.
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
