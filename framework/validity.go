package framework

import "time"

// contact is what a session knows of when the servers last heard from it. It decides two deadlines, and is a function of
// what it was told.
//
// The session is over when its whole timeout has passed since the newest frame that was answered was sent: no server can
// have heard from it later, unless it was that frame or one after it.
//
// A lease must end earlier. A follower answers pings and reads by itself, and reports the sessions that it has heard from
// to the leader only with its answer to the leader's own ping, every half tick. Cut off from its leader it goes on answering
// for seconds, while the leader expires the session and lets the next contender in. What the leader answers, a write or a
// sync, proves that follower and leader were connected when it was answered, so that whatever the follower had heard half a
// tick before has reached the leader. Half a tick is at most a quarter of the timeout, as long as ZooKeeper's
// minSessionTimeout is at least two ticks, its default. Hence the anchor: the newest frame whose answer had arrived a quarter
// of the timeout before the newest request that the leader answered was sent. (Its answer, not just its sending: a frame
// that was held up on its way to the follower would prove nothing.) A handshake is decided by the leader, and so is an anchor
// by itself.
//
// A leader that has been deposed and does not know goes on answering syncs and handshakes. With quorum, only what a majority of
// the servers agreed to counts: writes, and the handshake that opens the session. Whoever is leader next was elected later,
// and gives every session its whole timeout again. Another handshake becomes an anchor by the first write after it.
type contact struct {
	quorum  bool
	timeout time.Duration
	heard   []sample  // answered frames of the last timeout, oldest first
	last    time.Time // when the newest answered frame was sent
	anchor  time.Time
	shaken  time.Time // when the newest handshake was sent
	crossed time.Time // when the newest answer of the leader arrived
}

// A sample is an answered frame.
type sample struct{ sent, received time.Time }

// attached records an answered handshake that granted timeout. Of several timeouts the smallest counts: a server that still
// goes by an older one must not be outlived.
func (c *contact) attached(timeout time.Duration, sent, received time.Time) {
	opening := c.timeout == 0
	if opening || timeout < c.timeout {
		c.timeout = timeout
	}
	c.shaken = sent
	if opening || !c.quorum {
		c.anchor = latest(c.anchor, sent)
		c.crossed = latest(c.crossed, received)
	}
	c.record(sent, received)
}

// answered records any other answered frame; crossing, if the leader answered it, or with quorum a majority.
func (c *contact) answered(sent, received time.Time, crossing bool) {
	if crossing {
		proven := sent.Add(-c.timeout / 4)
		i := len(c.heard) - 1
		for i >= 0 && c.heard[i].received.After(proven) {
			i--
		}
		if i >= 0 {
			c.anchor = latest(c.anchor, c.heard[i].sent)
			c.heard = c.heard[i:]
		}
		c.anchor = latest(c.anchor, c.shaken) // of the same connection, so of the same leader
		c.crossed = latest(c.crossed, received)
	}
	c.record(sent, received)
}

// record keeps a sample, unless there is one of nearly the same time: an anchor a little earlier than need be does no harm,
// and a busy client does not remember every frame.
func (c *contact) record(sent, received time.Time) {
	c.last = latest(c.last, sent)
	if n := len(c.heard); n > 0 && received.Sub(c.heard[n-1].received) < c.timeout/64 {
		return
	}
	for len(c.heard) > 0 && received.Sub(c.heard[0].received) > c.timeout {
		c.heard = c.heard[1:]
	}
	c.heard = append(c.heard, sample{sent, received})
}

// validUntil is when leases end. A hundredth of the timeout is left for clocks that run at different speeds.
func (c *contact) validUntil() time.Time { return c.anchor.Add(c.timeout - c.timeout/100) }

// deadline is when the session is over.
func (c *contact) deadline() time.Time { return c.last.Add(c.timeout) }

// renewal is when the leader should be asked again. A quarter of the timeout after its last answer, that answer is old
// enough to become the anchor.
func (c *contact) renewal() time.Time { return c.crossed.Add(c.timeout / 4) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
