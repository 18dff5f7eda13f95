package live

import (
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// part is a part of the session timeout.
func (p *process) part(of float64) time.Duration { return time.Duration(float64(p.timeout) * of) }

// mixtures have a cause of which the leases would have ended in any case, beside a stop that alone would not have.
var mixtures = []struct {
	name string
	want session.LossKind
	ail  func(p *process)
}{
	{"a stop, a renewal, then a mute link", session.LossNotAnswered, func(p *process) {
		p.stop(p.timeout / 4)
		time.Sleep(p.timeout/4 + p.timeout/64)
		p.link.Mute()
	}},
	{"a stop, a renewal, then a link that is cut", session.LossNotReached, func(p *process) {
		p.stop(p.timeout / 4)
		time.Sleep(p.timeout/4 + p.timeout/64)
		p.link.Cut()
	}},
	{"a stop of a quarter, with the link cut", session.LossNotReached, func(p *process) {
		p.stop(p.timeout / 4)
		p.link.Cut()
	}},
	{"a longer stop, with the link cut", session.LossNotReached, func(p *process) {
		p.stop(p.part(.35))
		p.link.Cut()
	}},
	{"a stop, with a frozen server", session.LossNotAnswered, func(p *process) {
		p.stop(p.part(.3))
		p.server.Freeze()
	}},
	{"a frozen server, then a stop", session.LossNotAnswered, func(p *process) {
		p.server.Freeze()
		time.Sleep(p.upTo(p.timeout / 2))
		p.stop(p.part(.3))
	}},
	{"the link cut, then a long stop", session.LossNotReached, func(p *process) {
		p.link.Cut()
		time.Sleep(p.timeout / 10)
		p.stop(p.part(.6))
	}},
	{"the link cut for half of the timeout, then a long stop", session.LossNotReached, func(p *process) {
		p.link.Cut()
		time.Sleep(p.timeout / 2)
		p.stop(p.part(.6))
	}},
}

// The server answers the ping that goes ahead of a renewal, and then nothing is heard of it.
func TestAServerThatFallsSilentAfterAPingIsNotCalledSlow(t *testing.T) {
	for seed := range 30 {
		zktest.Bubble(t, func(t *testing.T) {
			p := newProcess(t, seed, nil)
			p.server.DelayReply(zktest.Match{Op: zktest.OpMulti}, p.timeout)
			for sent := (time.Time{}); sent.IsZero(); time.Sleep(time.Millisecond) {
				p.mu.Lock()
				sent = p.validity.renewal.sent
				p.mu.Unlock()
			}
			p.link.Mute()
			got := session.Explain(<-p.ended)
			if got.Kind != session.LossNotAnswered || !strings.Contains(strings.Join(got.Evidence, " "), "answered something else") {
				t.Errorf("seed %d: got %v: %s, want %v after a ping\n\t%s", seed, got.Kind, got, session.LossNotAnswered, strings.Join(got.Evidence, "\n\t"))
			}
		})
	}
}

func TestAStopIsNotNamedForALossThatSomethingElseCaused(t *testing.T) {
	for _, mixture := range mixtures {
		t.Run(mixture.name, func(t *testing.T) {
			for seed := range 30 {
				zktest.Bubble(t, func(t *testing.T) {
					p := newProcess(t, seed, nil)
					mixture.ail(p)
					got := session.Explain(<-p.ended)
					if got.Kind != mixture.want && got.Kind != session.LossUnknown || got.Sentence == "no cause was seen" {
						t.Errorf("seed %d: got %v: %s, want %v or not certain\n\t%s", seed, got.Kind, got, mixture.want, strings.Join(got.Evidence, "\n\t"))
					}
				})
			}
		})
	}
}
