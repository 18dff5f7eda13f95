package live

import (
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

// leaseClock knows when the servers last heard from the session. It decides two deadlines by that alone. "When a lease
// ends" in framework/session/LEASES.md says why, and what no clock can promise.
//
// The session is over when its timeout has passed since the newest answered frame was sent: perhaps no server has heard
// a later one.
//
// A lease ends earlier, since a follower that is cut off from its leader goes on answering. It counts from the anchor,
// the newest frame whose answer had arrived a quarter of the timeout before the newest answered write was sent. (Its
// answer, not just its sending: a frame that was held up on its way to the follower would prove nothing.) A handshake
// is decided by the leader, and so is an anchor by itself.
//
// A leader that has been deposed and does not know it answers syncs and handshakes. With quorum, the default, only what
// a majority agreed to counts: writes, and the handshake that opens the session. The next leader was elected later, and
// gives every session its whole timeout again. Another handshake becomes an anchor by the first write after it. Without
// quorum, syncs and every handshake count.
type leaseClock struct {
	quorum  bool
	timeout time.Duration // the smallest that the session was granted (transport/grant.go)
	heard   []sample      // in the last timeout, oldest first
	last    time.Time     // when the newest answered frame was sent
	came    time.Time     // when the newest answer was received
	anchor  time.Time
	shaken  time.Time     // when the newest handshake was sent
	led     sample        // the newest that the leader answered
	agreed  sample        // the newest that a majority answered
	lag     time.Duration // how long the newest answer that renewed leases took
}

// proof is how far an answer must have reached to renew leases.
func (c *leaseClock) proof() transport.Reach {
	if c.quorum {
		return transport.ReachMajority
	}
	return transport.ReachLeader
}

// A sample is an answered frame.
type sample struct{ sent, received time.Time }

// attached records a handshake.
func (c *leaseClock) attached(timeout time.Duration, sent, received time.Time) {
	opening := c.timeout == 0
	c.timeout = timeout
	c.shaken = sent
	if opening || !c.quorum {
		c.anchor = latest(c.anchor, sent)
		c.agreed = sample{sent, received}
	}
	c.led = sample{sent, received}
	c.record(sent, received)
}

// shortened records a handshake if it made the session shorter. Counted from an older frame, that could seem over.
func (c *leaseClock) shortened(timeout time.Duration, sent time.Time) bool {
	if timeout >= c.timeout {
		return false
	}
	c.timeout, c.last = timeout, latest(c.last, sent)
	if !c.quorum {
		c.anchor = latest(c.anchor, sent)
	}
	return true
}

// answered records any other answered frame.
func (c *leaseClock) answered(sent, received time.Time, reach transport.Reach) {
	if reach >= transport.ReachLeader {
		c.led = sample{sent, received}
	}
	if reach >= transport.ReachMajority {
		c.agreed = sample{sent, received}
	}
	if reach >= c.proof() {
		c.lag = received.Sub(sent)
		proven := sent.Add(-c.timeout / 4)
		i := len(c.heard) - 1
		for i >= 0 && c.heard[i].received.After(proven) {
			i--
		}
		if i >= 0 {
			c.anchor = latest(c.anchor, c.heard[i].sent)
			c.heard = c.heard[i:]
		}
		c.anchor = latest(c.anchor, c.shaken) // the same connection's, so the same leader's
	}
	c.record(sent, received)
}

// record keeps a sample, unless there is one of nearly the same time: an anchor a little too early does no harm, and a
// busy client need not remember every frame.
func (c *leaseClock) record(sent, received time.Time) {
	c.last, c.came = latest(c.last, sent), latest(c.came, received)
	if n := len(c.heard); n > 0 && received.Sub(c.heard[n-1].received) < c.timeout/64 {
		return
	}
	for len(c.heard) > 0 && received.Sub(c.heard[0].received) > c.timeout {
		c.heard = c.heard[1:]
	}
	c.heard = append(c.heard, sample{sent, received})
}

// validUntil leaves a hundredth of the timeout for clocks that run at different speeds.
func (c *leaseClock) validUntil() time.Time { return c.anchor.Add(c.timeout - c.timeout/100) }

// deadline is when the session is over.
func (c *leaseClock) deadline() time.Time { return c.last.Add(c.timeout) }

// renewal is when to ask the leader, or a majority, again: a quarter of the timeout after the last such answer, which
// is old enough then to become the anchor. Slow answers would leave gaps between possible anchors, so it is at most a
// quarter, and a little, after the answered frame was sent.
func (c *leaseClock) renewal(reach transport.Reach) time.Time {
	last := c.led
	if reach == transport.ReachMajority {
		last = c.agreed
	}
	at := earliest(last.received.Add(c.timeout/4), last.sent.Add(c.timeout/4+c.timeout/64))
	if early, ok := c.earlyRenewal(reach); ok {
		return earliest(at, early)
	}
	return at
}

// earlyRenewal is when a renewal is due although the last is not old enough, or not even answered: when the first frame
// heard after the anchor is old enough to take its place, and leases would otherwise end within a sixth of the timeout
// after the answer, the time to ask a second server. An earlier renewal cannot move the anchor to that frame.
//
// With answers that take L each, a frame sent at s becomes the anchor by s + 2L + T/4. The frame before it was sent at
// most T/4 + T/32 earlier, so leases last through answers that take T/6, whatever else the client sends: 9/32 + 2/6 +
// 1/4 = 0.86.
func (c *leaseClock) earlyRenewal(reach transport.Reach) (at time.Time, ok bool) {
	if reach < c.proof() { // watches alone: no lease depends on it
		return time.Time{}, false
	}
	for _, s := range c.heard {
		if s.sent.After(c.anchor) {
			return latest(s.received.Add(c.timeout/4), c.validUntil().Add(-c.timeout/6-c.lag)), true
		}
	}
	return time.Time{}, false
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
