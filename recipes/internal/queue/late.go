package queue

import (
	"context"
	"time"
)

// lateness is of a contender that waits. Most waits are short. One that lasts for a session timeout outlasts the
// session of a holder that died, so it has another reason.
type lateness struct {
	began time.Time
	timer *time.Timer // nil before the contender waits
}

// StartWaiting notes that the contender waits from now on, unless it does already.
func (c *Contender) StartWaiting() {
	c.WatchOwn()
	c.Progress.Waits = true
	if c.late.timer == nil {
		c.late = lateness{began: time.Now(), timer: time.NewTimer(c.Session.Timeout())}
	}
}

// Late is readable once, when a contender has waited for a session timeout. TellLate must follow.
func (c *Contender) Late() <-chan time.Time { return c.late.timer.C }

// TellLate calls Config.Late.
func (c *Contender) TellLate(ctx context.Context, at Progress) {
	if late := c.Queue.Config.Late; late != nil {
		late(ctx, at, time.Since(c.late.began))
	}
}

func (l *lateness) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
}
