package live

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

var epoch = time.Unix(0, 0)

func at(seconds float64) time.Time { return epoch.Add(time.Duration(seconds * float64(time.Second))) }

// A step is something that a session hears: with a timeout, an answered handshake.
type step struct {
	sent, received float64
	reach          transport.Reach
	timeout        float64
}

func TestAnchors(t *testing.T) {
	shake := step{sent: 0, received: 1, timeout: 12}
	for name, c := range map[string]struct {
		steps            []step
		anchor, deadline float64 // deadline: when the session is over
	}{
		"a handshake is its own anchor":          {[]step{shake}, 0, 12},
		"a read is none":                         {[]step{shake, {sent: 4, received: 5}}, 0, 16},
		"a write proves the handshake":           {[]step{shake, {sent: 6, received: 7, reach: transport.ReachLeader}}, 0, 18},
		"a write proves an answer a quarter old": {[]step{shake, {sent: 2, received: 3}, {sent: 6, received: 7, reach: transport.ReachLeader}}, 2, 18},
		"not one that is younger":                {[]step{shake, {sent: 2, received: 3.1}, {sent: 6, received: 7, reach: transport.ReachLeader}}, 0, 18},
		"not one that was sent early but came late": {[]step{
			shake,
			{sent: 1, received: 5},
			{sent: 6, received: 7, reach: transport.ReachLeader},
		}, 0, 18},
		"a write is an anchor for the next": {
			[]step{shake, {sent: 4, received: 5, reach: transport.ReachLeader}, {sent: 8, received: 9, reach: transport.ReachLeader}}, 4, 20,
		},
		"the newest of several counts": {
			[]step{
				shake,
				{sent: 2, received: 2.5},
				{sent: 3, received: 3.5},
				{sent: 4, received: 4.5},
				{sent: 7, received: 8, reach: transport.ReachLeader},
			}, 3, 19,
		},
		"a handshake supersedes what was heard before": {
			[]step{shake, {sent: 4, received: 5}, {sent: 7, received: 8, timeout: 12}, {sent: 9, received: 9.5, reach: transport.ReachLeader}}, 7, 21,
		},
	} {
		var got leaseClock
		for _, s := range c.steps {
			got.hear(s)
		}
		if !got.anchor.Equal(at(c.anchor)) || !got.deadline().Equal(at(c.deadline)) {
			t.Errorf("%s: anchor %v, over at %v; want %v and %v", name, got.anchor.Sub(epoch), got.deadline().Sub(epoch), c.anchor, c.deadline)
		}
		if want := at(c.anchor + 0.99*12); !got.validUntil().Equal(want) {
			t.Errorf("%s: valid until %v, want %v", name, got.validUntil().Sub(epoch), want.Sub(epoch))
		}
	}
}

func TestByQuorumOnlyTheOpeningHandshakeIsAnAnchorByItself(t *testing.T) {
	c := leaseClock{quorum: true}
	for i, s := range []struct {
		step
		anchor float64
	}{
		{step{sent: 1, received: 2, timeout: 12}, 1},
		{step{sent: 3, received: 4, timeout: 12}, 1},
		{step{sent: 5, received: 5.5}, 1},
		{step{sent: 6, received: 7, reach: transport.ReachLeader}, 1},
		// a majority answered on the connection that the handshake opened
		{step{sent: 6, received: 7, reach: transport.ReachMajority}, 3},
		{step{sent: 8, received: 9, timeout: 12}, 3},
		{step{sent: 9, received: 10, reach: transport.ReachLeader}, 3},
		{step{sent: 9, received: 10, reach: transport.ReachMajority}, 8},
	} {
		if c.hear(s.step); !c.anchor.Equal(at(s.anchor)) {
			t.Errorf("step %d: anchor %v, want %v", i, c.anchor.Sub(epoch), s.anchor)
		}
	}
}

func TestWhenTheLeaderIsAskedAgain(t *testing.T) {
	quick := step{sent: 0, received: 0.01, timeout: 12}
	for name, c := range map[string]struct {
		steps       []step
		led, agreed float64
	}{
		"after the handshake":      {[]step{quick}, 3.01, 3.01},
		"not for a read":           {[]step{quick, {sent: 4, received: 5}}, 3.01, 3.01},
		"after a sync":             {[]step{quick, {sent: 4, received: 4.125, reach: transport.ReachLeader}}, 7.125, 3.01},
		"after a transaction":      {[]step{quick, {sent: 4, received: 4.125, reach: transport.ReachMajority}}, 7.125, 7.125},
		"after a slow sync":        {[]step{quick, {sent: 4, received: 6, reach: transport.ReachLeader}}, 7.1875, 3.01},
		"after a slow transaction": {[]step{quick, {sent: 4, received: 6, reach: transport.ReachMajority}}, 7.1875, 7.1875},
		"earlier if leases would end": {
			[]step{quick, {sent: 1, received: 1.5}, {sent: 3.9, received: 6.9, reach: transport.ReachLeader}},
			0.99*12 - 2 - 3, 3.01,
		},
		"not before something heard is old enough": {
			[]step{quick, {sent: 1, received: 4.05}, {sent: 4, received: 6.9, reach: transport.ReachLeader}}, 7.05, 3.01,
		},
	} {
		var got leaseClock
		for _, s := range c.steps {
			got.hear(s)
		}
		if led, agreed := got.renewal(transport.ReachLeader), got.renewal(transport.ReachMajority); !led.Equal(at(c.led)) || !agreed.Equal(at(c.agreed)) {
			t.Errorf("%s: at %v by the leader and at %v by a majority, want %v and %v", name, led.Sub(epoch), agreed.Sub(epoch), c.led, c.agreed)
		}
	}
}

func (c *leaseClock) hear(s step) {
	if s.timeout > 0 {
		c.attached(time.Duration(s.timeout*float64(time.Second)), at(s.sent), at(s.received))
		return
	}
	c.answered(at(s.sent), at(s.received), s.reach)
}

func TestABusyClientRemembersFewFrames(t *testing.T) {
	var c leaseClock
	c.hear(step{timeout: 12})
	for i := range 100_000 {
		now := float64(i) / 1000
		c.hear(step{sent: now, received: now + 0.0005})
	}
	if n := len(c.heard); n > 70 {
		t.Errorf("%d samples", n)
	}
	c.hear(step{sent: 100, received: 100.1, reach: transport.ReachLeader})
	if lag := at(97).Sub(c.anchor); lag < 0 || lag > 300*time.Millisecond {
		t.Errorf("the anchor is %v older than it could be", lag)
	}
}

// Each pair of bytes is a frame: how much later than the last it is sent, and how long its answer takes, in units of
// T/256; the lowest bits say whether it crosses the leader, or is a handshake.
func FuzzValidity(f *testing.F) {
	f.Add([]byte{0, 0, 64, 9, 65, 8, 66, 255, 3, 1, 64, 64})
	f.Fuzz(func(t *testing.T, frames []byte) {
		const timeout = 256 * time.Millisecond
		var c leaseClock
		sent, received := epoch, epoch
		c.attached(timeout, sent, received)
		for i := 0; i+1 < len(frames); i += 2 {
			sent = latest(sent, received.Add(-timeout)).Add(time.Duration(frames[i]) * time.Millisecond)
			received = latest(received, sent.Add(time.Duration(frames[i+1])*time.Millisecond)) // answers come in order
			before := c.validUntil()
			if frames[i]&7 == 7 {
				c.attached(timeout, sent, received)
				if !c.anchor.Equal(sent) {
					t.Fatalf("got anchor %v after a handshake, want %v", c.anchor, sent)
				}
			} else {
				c.answered(sent, received, transport.Reach(frames[i]&1))
				if c.anchor.After(sent.Add(-timeout/4)) && c.validUntil().After(before) {
					t.Fatalf("got anchor %v, valid until %v, by the frame of %v; want it earlier by a quarter",
						c.anchor, c.validUntil(), sent)
				}
				if frames[i]&1 == 0 && c.validUntil().After(before) {
					t.Fatalf("got validity until %v without the leader, want at most %v", c.validUntil(), before)
				}
			}
			if c.validUntil().Before(before) {
				t.Fatalf("got validity until %v, want no earlier than %v", c.validUntil(), before)
			}
			if c.validUntil().After(c.last.Add(timeout - timeout/100)) {
				t.Fatalf("got validity until %v, want at most 0.99 T after the newest frame, of %v",
					c.validUntil(), c.last)
			}
			if c.deadline().Before(c.validUntil()) {
				t.Fatalf("got the session's deadline at %v, want it no earlier than that of its leases, %v",
					c.deadline(), c.validUntil())
			}
			if len(c.heard) > 70 {
				t.Fatalf("%d samples", len(c.heard))
			}
		}
	})
}

// Frames that come so soon after each other that not each is remembered count for the end of the session all the same.
func TestASessionLastsForItsTimeoutFromTheNewestAnsweredFrame(t *testing.T) {
	const timeout = 64 * time.Second
	start := time.Unix(1000, 0)
	var c leaseClock
	c.attached(timeout, start, start)
	sent := start.Add(timeout / 128)
	c.answered(sent, sent, transport.ReachServer)
	if got, want := c.deadline(), sent.Add(timeout); !got.Equal(want) {
		t.Errorf("got the session over at %v, want %v", got, want)
	}
}

func TestALeaseOutlastsAHandshakeThatShortensItsSession(t *testing.T) {
	for quorum, want := range map[bool]float64{true: 0, false: 12} {
		c := leaseClock{quorum: quorum}
		c.attached(40*time.Second, at(0), at(0))
		c.shortened(10*time.Second, at(12))
		if !c.anchor.Equal(at(want)) {
			t.Errorf("quorum %t: anchor %v, want %v", quorum, c.anchor.Sub(epoch), want)
		}
	}
}
