package queue

import (
	"context"
	"time"
)

// lateness is of a contender that waits. Most waits are short. One that lasts for a session timeout outlasts the session of
// a holder that died, so its reason is one to look for.
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

// Late is readable once: when the contender has waited for a session timeout. TellLate is to be called then. It is for a
// contender that waits.
func (c *Contender) Late() <-chan time.Time { return c.late.timer.C }

// TellLate reports that the contender, which stands at this place, has waited for long.
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
