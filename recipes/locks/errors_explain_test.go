package locks_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/sampletest"
	"github.com/gocurator/curator/recipes/locks"
)

var explanations = flag.Int("explanations", 50, "how often each cause of a loss is played, with other times each time")

// A patient is a client that holds a lock, with what can be done to it.
type patient struct {
	t        *testing.T
	rand     *rand.Rand
	timeout  time.Duration
	ensemble *zktest.Ensemble
	link     *zktest.Link
	client   *framework.Client
	lease    *locks.Lease
	deaf     atomic.Bool // what servers send is swallowed
	dumb     atomic.Bool // what the client sends is swallowed
	dark     atomic.Bool // dialing takes until its context ends
}

// upTo is a random part of a duration.
func (p *patient) upTo(d time.Duration) time.Duration {
	return time.Duration(p.rand.Int64N(int64(d) + 1))
}

func (p *patient) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if p.dark.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	conn, err := p.link.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return halfOpen{conn, p}, nil
}

// A halfOpen is a connection that can lose one direction.
type halfOpen struct {
	net.Conn
	patient *patient
}

func (c halfOpen) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err != nil || !c.patient.deaf.Load() {
			return n, err
		}
	}
}

func (c halfOpen) Write(b []byte) (int, error) {
	if c.patient.dumb.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// eachServer does something to all servers of the ensemble.
func (p *patient) eachServer(do func(*zktest.Server)) {
	for i := range p.ensemble.Size() {
		do(p.ensemble.Server(i))
	}
}

// lateWrites has every write from now on answered late.
func (p *patient) lateWrites(by time.Duration) {
	p.eachServer(func(s *zktest.Server) {
		for i := range 30 {
			s.DelayReply(zktest.Match{Op: zktest.OpMulti, Nth: i + 1}, by)
		}
	})
}

type ailment struct {
	name string
	opts []framework.Option
	ail  func(p *patient)
	want session.LossKind
	says string // a part of the sentence
}

var ailments = []ailment{
	{name: "the link is cut", ail: func(p *patient) { p.link.Cut() }, want: session.LossNotReached, says: "connection refused"},
	{name: "the link swallows all, and new connections do not come about", ail: func(p *patient) {
		p.link.Mute()
		p.dark.Store(true)
	}, want: session.LossNotReached, says: "timed out"},
	{name: "half-open: answers are swallowed", ail: func(p *patient) { p.deaf.Store(true) }, want: session.LossNotAnswered},
	{name: "half-open: requests are swallowed", ail: func(p *patient) { p.dumb.Store(true) }, want: session.LossNotAnswered},
	{name: "mute servers", ail: func(p *patient) { p.eachServer((*zktest.Server).Freeze) }, want: session.LossNotAnswered},
	{name: "late answers to writes", ail: func(p *patient) { p.lateWrites(p.timeout*2/5 + p.upTo(p.timeout)) }, want: session.LossAnsweredLate},
	{name: "servers without a leader", ail: func(p *patient) {
		p.eachServer(func(s *zktest.Server) { s.SetReadOnly(true) })
	}, want: session.LossNotServing, says: "as servers without a leader do"},
	{name: "expiry", ail: func(p *patient) {
		s, err := p.client.Session(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		p.ensemble.Leader().ExpireSession(s.ID())
	}, want: session.LossSessionEnded},
	{name: "removal by hand", ail: func(p *patient) {
		if err := p.ensemble.Leader().Delete(path + "/" + p.lease.NodeName()); err != nil {
			p.t.Fatal(err)
		}
	}, want: session.LossNodeRemoved},
	{name: "the client is closed", ail: func(p *patient) { _ = p.client.Close() }, want: session.LossClientClosed},
	{
		name: "a reset under StandardErrorPolicy", opts: []framework.Option{framework.WithErrorPolicy(framework.StandardErrorPolicy)},
		ail: func(p *patient) { p.link.Reset() }, want: session.LossConnectionLost, says: "connection reset",
	},
}

// Each cause is named in 95 of a hundred losses, and in the others none is.
func TestALossIsExplainedByItsCauseAndNeverByAnother(t *testing.T) {
	sample := sampletest.New(t, "explanations")
	for _, ailment := range ailments {
		t.Run(ailment.name, func(t *testing.T) {
			named, part := 0, sample.Part(*explanations, 3)
			for _, seed := range part {
				zktest.Bubble(t, func(t *testing.T) {
					p := newPatient(t, seed, ailment.opts)
					got := p.diagnose(ailment.ail)
					switch {
					case got.Kind == ailment.want && strings.Contains(got.Sentence, ailment.says):
						named++
					case got.Kind == session.LossUnknown:
						t.Logf("seed %d: unnamed: %s\n\t%s", seed, got.Sentence, strings.Join(got.Evidence, "\n\t"))
					default:
						t.Errorf("seed %d: got %v: %s, want %v with %q\n\t%s", seed, got.Kind, got.Sentence, ailment.want, ailment.says,
							strings.Join(got.Evidence, "\n\t"))
					}
					if strings.ContainsAny(got.Sentence, "\r\n") || got.Sentence == "" {
						t.Errorf("seed %d: got the sentence %q, want one line", seed, got.Sentence)
					}
				})
			}
			if unnamed := len(part) - named; unnamed*100 > *explanations*5 {
				t.Errorf("named %d of %d, want 95 of a hundred of all %d", named, len(part), *explanations)
			}
		})
	}
}

// newPatient makes a client of one or three servers that holds a lock for a while.
func newPatient(t *testing.T, seed int, opts []framework.Option) *patient {
	t.Helper()
	p := &patient{t: t, rand: rand.New(rand.NewPCG(uint64(seed), 34))} //nolint:gosec // a test repeats its seeds
	p.timeout = 4*time.Second + p.upTo(36*time.Second)
	p.ensemble = zktest.NewEnsemble(1 + 2*p.rand.IntN(2))
	t.Cleanup(func() { _ = p.ensemble.Close() })
	p.link = p.ensemble.NewLink()
	p.link.SetLatency(p.upTo(10 * time.Millisecond))
	client, err := framework.NewClient(strings.Join(p.ensemble.Addrs(), ","), append([]framework.Option{
		framework.WithDialer(p.dial), framework.WithSessionTimeout(p.timeout),
	}, opts...)...)
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	p.client = client
	if p.lease, err = locks.NewInterProcessMutex(client, path).Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(p.upTo(3 * p.timeout))
	return p
}

// diagnose makes the client lose its lease.
func (p *patient) diagnose(ail func(p *patient)) session.Explanation {
	p.t.Helper()
	ail(p)
	select {
	case <-p.lease.Done():
	case <-time.After(5 * p.timeout):
		p.t.Fatal("the lease is not lost within five session timeouts")
	}
	var lost *locks.LostError
	if err := p.lease.Err(); !errors.As(err, &lost) {
		p.t.Fatalf("got %v, want a LostError", err)
	}
	time.Sleep(p.timeout / 8) // until the client hears why its connection ended
	return lost.Explain()
}

// A server that ends a session may report the removal of its nodes first, and then close its connection.
func TestANodeThatWentWithItsSessionIsExplainedByTheSession(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		p := newPatient(t, 3, nil)
		s, err := p.client.Session(t.Context())
		must(t, err)
		got := p.diagnose(func(p *patient) {
			p.link.SetLatency(5 * time.Millisecond)
			must(t, p.ensemble.Leader().Delete(path+"/"+p.lease.NodeName()))
			<-p.lease.Done() // before anything that the client asks for then has arrived
			p.ensemble.Leader().ExpireSession(s.ID())
		})
		if err := p.lease.Err(); !errors.Is(err, locks.ErrRemoved) || got.Kind != session.LossSessionEnded {
			t.Errorf("got %v: %s after %v, want the end of the session after a removal", got.Kind, got, err)
		}
	})
}

// The session lives on for a while after the removal, without a lease, and then an administrator ends it.
func TestTheExplanationOfARemovedNodeDoesNotChangeWithItsSession(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		p := newPatient(t, 3, nil)
		s, err := p.client.Session(t.Context())
		must(t, err)
		const want = "the node was removed, by another session or by hand"
		got := p.diagnose(func(p *patient) {
			must(t, p.ensemble.Leader().Delete(path+"/"+p.lease.NodeName()))
		})
		if got.Kind != session.LossNodeRemoved || got.Sentence != want {
			t.Errorf("got %v: %s, want %s", got.Kind, got, want)
		}
		time.Sleep(20 * time.Minute)
		p.ensemble.Leader().ExpireSession(s.ID())
		<-s.Done()
		if got := session.Explain(p.lease.Err()); got.Kind != session.LossNodeRemoved || got.Sentence != want {
			t.Errorf("after the session's end: got %v: %s, want %s as before", got.Kind, got, want)
		}
	})
}

// The trace and the log say of a removed node what the client knows after the next answer.
func TestTheLossOfARemovedNodeIsReportedWhenItIsKnownWhy(t *testing.T) {
	for name, test := range map[string]struct {
		expire bool
		cut    bool
		want   session.LossKind
		after  time.Duration
	}{
		"by hand":                        {false, false, session.LossNodeRemoved, 100 * time.Millisecond},
		"with its session":               {true, false, session.LossSessionEnded, 500 * time.Millisecond},
		"by hand, and the client is cut": {false, true, session.LossNodeRemoved, 2 * sessionTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				var mu sync.Mutex // a goroutine of the client reports
				var reports []locks.Lost
				reported := func() []locks.Lost {
					mu.Lock()
					defer mu.Unlock()
					return slices.Clone(reports)
				}
				var book logBook
				p := newPeer(t, server, book.option())
				lease := acquire(t, p.mutex(locks.WithTrace(locks.Trace{Lost: func(l locks.Lost) {
					mu.Lock()
					defer mu.Unlock()
					reports = append(reports, l)
				}})))
				s, err := p.Session(t.Context())
				must(t, err)
				time.Sleep(sessionTimeout + time.Second)
				p.cable.SetLatency(50 * time.Millisecond)
				must(t, server.Delete(path+"/"+lease.NodeName()))
				<-lease.Done()
				synctest.Wait()
				if lost := reported(); len(lost) != 0 {
					t.Errorf("got %v: %s before any answer, want no report yet", lost[0].Explanation.Kind, lost[0].Explanation)
				}
				if test.expire {
					server.ExpireSession(s.ID())
				}
				if test.cut {
					p.link.Cut()
				}
				time.Sleep(test.after)
				synctest.Wait()
				lost := reported()
				if len(lost) != 1 || lost[0].Explanation.Kind != test.want || !errors.Is(lost[0].Err, locks.ErrRemoved) {
					t.Fatalf("got %+v within %v, want one loss by %v", lost, test.after, test.want)
				}
				lines := book.waits(slog.LevelWarn)
				if len(lines) != 1 || !strings.Contains(lines[0], fmt.Sprintf("cause=%q", lost[0].Explanation.Sentence)) {
					t.Errorf("got the lines %q, want one with the cause %q", lines, lost[0].Explanation)
				}
				p.link.Heal()
			})
		})
	}
}

func ExampleLostError_Explain() {
	err := error(&locks.LostError{Path: "/locks/a", Reason: framework.ErrClosed})
	var lost *locks.LostError
	if errors.As(err, &lost) {
		fmt.Println(lost.Explain().Kind, "-", lost.Explain())
	}
	// Output: client-closed - this client was closed
}

// Two causes in a row: either may be named, or none; never a third.
func TestOfTwoCausesNoThirdIsNamed(t *testing.T) {
	var all []ailment
	for _, a := range ailments {
		switch a.want {
		case session.LossNotReached, session.LossNotAnswered, session.LossAnsweredLate, session.LossNotServing:
			all = append(all, a)
		default:
		}
	}
	for _, seed := range sampletest.New(t, "explanations").Part(2**explanations, 3) {
		zktest.Bubble(t, func(t *testing.T) {
			p := newPatient(t, seed, nil)
			first, second := all[p.rand.IntN(len(all))], all[p.rand.IntN(len(all))]
			got := p.diagnose(func(p *patient) {
				first.ail(p)
				time.Sleep(p.upTo(p.timeout * 3 / 4))
				second.ail(p)
			})
			if got.Kind != first.want && got.Kind != second.want && got.Kind != session.LossUnknown {
				t.Errorf("seed %d, %s, then %s: got %v: %s\n\t%s", seed, first.name, second.name, got.Kind, got.Sentence,
					strings.Join(got.Evidence, "\n\t"))
			}
		})
	}
}
