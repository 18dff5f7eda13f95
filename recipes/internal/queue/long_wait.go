package queue

import (
	"context"
	"time"
)

// A LongWait is the clock of a waiting acquire. A wait counts as long after one session timeout. By then the node of
// any holder that was dead at the start is gone, unless its timeout was longer. Each doubling is reported too.
type LongWait struct {
	began    time.Time
	next     time.Duration
	timer    *time.Timer // nil while it does not wait
	reported bool
}

// Start begins or resumes the wait, and calls signal whenever there may be something to report. Stop must follow.
func (l *LongWait) Start(patience time.Duration, signal func()) {
	if l.timer != nil {
		return
	}
	if l.began.IsZero() {
		l.began, l.next = time.Now(), patience
	}
	l.timer = time.AfterFunc(time.Until(l.began.Add(l.next)), signal)
}

// Check returns whether the wait is to be reported now, and whether for the first time.
func (l *LongWait) Check() (waited time.Duration, long, first bool) {
	if waited = time.Since(l.began); waited < l.next {
		return waited, false, false
	}
	first, l.reported = !l.reported, true
	for l.next <= waited {
		l.next *= 2
	}
	l.timer.Reset(l.next - waited)
	return waited, true, first
}

// Stop pauses the wait. Another Start goes on with it.
func (l *LongWait) Stop() {
	if l != nil && l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// StartWaiting notes that the contender waits.
func (c *Contender) StartWaiting() {
	c.WatchOwn()
	c.Progress.Waits = true
	if c.longWait == nil {
		c.longWait = new(LongWait)
	}
	c.longWait.Start(c.Session.Timeout(), c.Waiter.Signal)
}

// ReportLongWait calls Config.LongWait if the contender's wait is to be reported.
func (c *Contender) ReportLongWait(ctx context.Context, at Progress) {
	waited, long, first := c.longWait.Check()
	if !long {
		return
	}
	c.Progress.WaitsLong = true
	if report := c.queue.Config.LongWait; report != nil {
		report(ctx, at, waited, first)
	}
}
