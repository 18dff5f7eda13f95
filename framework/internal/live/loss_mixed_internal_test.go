package live

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/sampletest"
	"github.com/gocurator/curator/framework/sasl"
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
	{"the link cut, healed while the process is stopped", session.LossProcessStopped, func(p *process) {
		p.link.Cut()
		time.Sleep(p.part(.3))
		p.stop(2 * p.timeout)
		p.link.Heal()
	}},
	{"the link cut for less, healed while the process is stopped", session.LossProcessStopped, func(p *process) {
		p.link.Cut()
		time.Sleep(p.part(.15))
		p.stop(2 * p.timeout)
		p.link.Heal()
	}},
	{"the link cut for a moment, healed while the process is stopped", session.LossProcessStopped, func(p *process) {
		p.link.Cut()
		time.Sleep(p.part(.03))
		p.stop(2 * p.timeout)
		p.link.Heal()
	}},
	{"a stop while the handshake is under way", session.LossProcessStopped, func(p *process) {
		p.link.SetLatency(20 * time.Millisecond)
		p.link.Reset()
		time.Sleep(30 * time.Millisecond)
		p.stop(2 * p.timeout)
	}},
	{"the link cut, healed while the machine is suspended", session.LossMachineSuspended, func(p *process) {
		p.link.Cut()
		time.Sleep(p.part(.3))
		p.link.Heal()
		suspend(p.clock, 2*p.timeout)
	}},
	{"the link cut for less, and then the machine is suspended for a month", session.LossMachineSuspended, func(p *process) {
		p.link.Cut()
		time.Sleep(p.part(.15))
		suspend(p.clock, 720*time.Hour)
	}},
	{"refusals for a moment, then a mute link", session.LossNotAnswered, func(p *process) {
		p.link.Cut()
		time.Sleep(p.part(.04))
		p.link.Heal()
		p.link.Mute()
	}},
	{"refusals for a moment, then a frozen server", session.LossNotAnswered, func(p *process) {
		p.link.Cut()
		p.server.Freeze()
		time.Sleep(p.part(.04))
		p.link.Heal()
	}},
	{"no leader for a moment, then a frozen server", session.LossNotAnswered, func(p *process) {
		p.server.SetReadOnly(true)
		time.Sleep(p.part(.04))
		p.server.Freeze()
	}},
	{"no leader for a moment, then a mute link", session.LossNotAnswered, func(p *process) {
		p.server.SetReadOnly(true)
		time.Sleep(p.part(.04))
		p.link.Mute()
	}},
	{"no renewal answered beside pings, then a link that is cut", session.LossAnsweredLate, func(p *process) {
		for i := range 10 {
			p.server.HoldRequest(zktest.Match{Op: zktest.OpMulti, Nth: i + 1})
		}
		time.Sleep(p.part(.25 + .4))
		p.link.Cut()
	}},
}

// The server answers the ping that goes ahead of a renewal, and then nothing is heard of it.
func TestAServerThatFallsSilentAfterAPingIsNotCalledSlow(t *testing.T) {
	for seed := range 30 {
		zktest.Bubble(t, func(t *testing.T) {
			p := newProcess(t, seed, nil)
			p.server.DelayReply(zktest.Match{Op: zktest.OpMulti}, p.timeout)
			p.renewing()
			p.link.Mute()
			got := session.Explain(<-p.ended)
			unslow := got.Kind == session.LossNotAnswered || got.Kind == session.LossUnknown
			if !unslow || !strings.Contains(strings.Join(got.Evidence, " "), "answered something else") {
				t.Errorf("seed %d: got %v: %s, want %v or not certain after a ping\n\t%s", seed, got.Kind, got, session.LossNotAnswered, strings.Join(got.Evidence, "\n\t"))
			}
		})
	}
}

// The end of a connection says what the server answered beside a renewal, also if the client had not given up yet.
func TestAServerThatAnsweredAPingHadNotStoppedAnsweringBefore(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		p := newProcess(t, 1, nil)
		p.server.HoldRequest(zktest.Match{Op: zktest.OpMulti})
		p.renewing()
		time.Sleep(p.part(.1))
		p.link.Cut()
		got := strings.Join(session.Explain(<-p.ended).Evidence, "\n\t")
		if want := "ended, which had answered something else after the renewal, and then nothing for "; !strings.Contains(got, want) {
			t.Errorf("got\n\t%s\nwant %q in it", got, want)
		}
	})
}

// renewing waits until a renewal is under way.
func (p *process) renewing() {
	for sent := (time.Time{}); sent.IsZero(); time.Sleep(time.Millisecond) {
		p.mu.Lock()
		sent = p.validity.renewal.sent
		p.mu.Unlock()
	}
}

func TestAStopIsNotNamedForALossThatSomethingElseCaused(t *testing.T) {
	sample := sampletest.New(t)
	for _, mixture := range mixtures {
		t.Run(mixture.name, func(t *testing.T) {
			for _, seed := range sample.Part(30, 3) {
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

// A server that was dead before a stop, and after it, is not excused by the stop.
func TestAStopThatTheLeaseOutlivedExcusesNoDeadServer(t *testing.T) {
	outlived := 0
	for seed := range 100 {
		zktest.Bubble(t, func(t *testing.T) {
			p := newProcess(t, seed, nil)
			p.link.Mute()
			time.Sleep(p.upTo(p.part(.3)))
			p.stop(p.upTo(p.timeout))
			got := session.Explain(<-p.ended)
			if time.Since(p.until) < 10*time.Millisecond {
				return
			}
			outlived++
			if got.Kind == session.LossProcessStopped {
				t.Errorf("seed %d: got %v: %s %v after the stop, want %v or not certain\n\t%s", seed, got.Kind, got, time.Since(p.until),
					session.LossNotAnswered, strings.Join(got.Evidence, "\n\t"))
			}
		})
	}
	if outlived < 20 {
		t.Errorf("got %d leases that outlived the stop, want 20", outlived)
	}
}

// A mechanism is one whose other service fails, or hangs.
type mechanism struct{ down, hangs bool }

func (*mechanism) Name() string { return "GSSAPI" }

func (m *mechanism) Start(ctx context.Context, _ sasl.Server) (sasl.Exchange, error) {
	switch {
	case m.hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case m.down:
		return nil, errors.New("no ticket")
	default:
		return m, nil
	}
}

func (*mechanism) Step([]byte) ([]byte, bool, error) { return nil, true, nil }

func TestAServerThatAnswersTheHandshakeIsNotCalledUnreachable(t *testing.T) {
	for name, ill := range map[string]mechanism{"fails": {down: true}, "hangs": {hangs: true}} {
		t.Run(name, func(t *testing.T) {
			for seed := range 10 {
				zktest.Bubble(t, func(t *testing.T) {
					var m mechanism
					p := newProcess(t, seed, nil, func(c *Config) { c.Transport.SASL = &m })
					m = ill
					p.link.Reset()
					got := session.Explain(<-p.ended)
					if want := "this client's authentication failed for "; got.Kind != session.LossUnknown || !strings.Contains(got.Sentence, want) {
						t.Errorf("seed %d: got %v: %s, want unknown with %q\n\t%s", seed, got.Kind, got, want, strings.Join(got.Evidence, "\n\t"))
					}
				})
			}
		})
	}
}

// An idle session renews no leases, and ends while the machine is suspended.
func TestTheServersDoNotEndASessionWhoseMachineIsSuspended(t *testing.T) {
	named := 0
	for seed := range 30 {
		zktest.Bubble(t, func(t *testing.T) {
			p := newProcess(t, seed, nil)
			p.mu.Lock()
			p.validity.term.bindings = nil
			p.mu.Unlock()
			time.Sleep(2*p.timeout + p.upTo(p.timeout))
			suspend(p.clock, time.Hour)
			p.server.ExpireSession(p.session.ID())
			<-p.session.Done()
			switch got := session.Explain(p.session.Err()); got.Kind {
			case session.LossMachineSuspended:
				named++
			case session.LossUnknown:
			default:
				t.Errorf("seed %d: got %v: %s, want %v\n\t%s", seed, got.Kind, got, session.LossMachineSuspended, strings.Join(got.Evidence, "\n\t"))
			}
		})
	}
	if named < 20 {
		t.Errorf("got %d of 30 named, want 20", named)
	}
}

// The client closes a connection that was silent for long, also if it was the client that did not read.
func TestALostConnectionIsNotASilentServersIfTheProcessDidNotRun(t *testing.T) {
	silent := 0
	for seed := range 40 {
		zktest.Bubble(t, func(t *testing.T) {
			p := newProcess(t, seed, nil, standardPolicy)
			p.stop(p.part(.3) + p.upTo(p.part(.44)))
			select {
			case lost := <-p.ended:
				got := session.Explain(lost)
				if got.Kind != session.LossConnectionLost {
					return
				}
				silent++
				if want := "but this process did not run for at least "; !strings.Contains(got.Sentence, want) {
					t.Errorf("seed %d: got %s, want %q\n\t%s", seed, got, want, strings.Join(got.Evidence, "\n\t"))
				}
			case <-time.After(3 * p.timeout):
			}
		})
	}
	if silent == 0 {
		t.Error("got no lost connection, want some")
	}
}
