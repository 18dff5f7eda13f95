package framework_test

import (
	"context"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// Shortly before the end of an idle session's validity the guard's next look would come too late.
func TestAHoldThatBeginsLateIsRenewed(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.create("/a", framework.WithMode(framework.Ephemeral))
		s := w.session()
		time.Sleep(time.Until(s.ValidUntil()) - session/10)
		h := w.hold()
		time.Sleep(session)
		if err := h.Err(); err != nil {
			t.Error(err)
		}
	})
}

func TestAContenderAloneKeepsTheSessionValid(t *testing.T) {
	for name, c := range map[string]struct {
		opts []framework.Option
		rely func(s *framework.Session) (stop func())
	}{
		"a contender": {nil, func(s *framework.Session) func() { return s.KeepValid() }},
		"a watch, renewed by the leader": {
			[]framework.Option{framework.WithLeaderRenewal()},
			func(s *framework.Session) func() {
				watch := s.WatchData("/a", func() {})
				return func() { s.Unwatch(watch) }
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.make("/a")
				s := w.session()
				time.Sleep(session / 2)
				defer c.rely(s)()
				time.Sleep(session * 2 / 5)
				if left := time.Until(s.ValidUntil()); left < session/2-slack {
					t.Errorf("it is valid for %v more", left)
				}
			}, c.opts...)
		})
	}
}

// trio is an ensemble of three and one client, with a link of its own to each server.
type trio struct {
	*world
	ens   *zktest.Ensemble
	links map[string]*zktest.Link // by address

	mu    sync.Mutex
	dials []string
}

func newTrio(t *testing.T, opts []zktest.Option, more ...framework.Option) *trio {
	ens := zktest.NewEnsemble(3, opts...)
	t.Cleanup(func() { ens.Close() })
	w := &trio{world: &world{T: t, srv: ens.Leader(), states: &states{}}, ens: ens, links: map[string]*zktest.Link{}}
	for i, address := range ens.Addrs() {
		w.links[address] = ens.Server(i).NewLink()
	}
	w.client = w.dial(strings.Join(ens.Addrs(), ","), append([]framework.Option{
		framework.WithStateListener(w.states.hear), framework.WithDialer(w.dialServer),
	}, more...)...)
	w.connected()
	return w
}

func (w *trio) dialServer(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dials = append(w.dials, address)
	w.mu.Unlock()
	return w.links[address].DialContext(ctx, network, address)
}

func (w *trio) dialed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.dials...)
}

// here is the address that the client dialed last.
func (w *trio) here() string { return w.dialed()[len(w.dialed())-1] }

// bothWays runs f with renewals by sync and by transaction.
func bothWays(t *testing.T, f func(t *testing.T, opts ...framework.Option)) {
	t.Run("transaction", func(t *testing.T) { zktest.Bubble(t, func(t *testing.T) { f(t) }) })
	t.Run("sync", func(t *testing.T) { zktest.Bubble(t, func(t *testing.T) { f(t, framework.WithLeaderRenewal()) }) })
}

// The server falls silent at any moment of the renewals; the others answer.
func TestAServerThatFallsSilentEndsNoLease(t *testing.T) {
	bothWays(t, func(t *testing.T, opts ...framework.Option) {
		for seed := range uint64(40) {
			random := rand.New(rand.NewPCG(seed, 0))
			w := newTrio(t, nil, opts...)
			h := w.hold()
			time.Sleep(session + time.Duration(random.Int64N(int64(session))))
			mute := w.here()
			w.links[mute].Mute()
			silent := time.Now()
			w.eventually("moved on", func() bool { return w.here() != mute })
			if d := time.Since(silent); d > session*3/8+slack {
				t.Errorf("seed %d: moved on after %v, want a quarter and an eighth of %v at most", seed, d, session)
			}
			time.Sleep(2 * session)
			if err := h.Err(); err != nil || h.ended() {
				t.Errorf("seed %d: the lease ended: %v", seed, err)
			}
			if n := len(w.dialed()); n > 3 {
				t.Errorf("seed %d: %d attempts to reach one of two good servers", seed, n-1)
			}
			h.Release()
			w.links[mute].Heal()
			wantErr(t, w.client.Close())
		}
	})
}

// Writes and syncs are answered after a sixth of the session timeout for a minute, and some writes of the client's own
// are under way. Whatever is asked behind them is answered behind them, pings too.
func TestSlowCommitsEndNoLease(t *testing.T) {
	bothWays(t, func(t *testing.T, opts ...framework.Option) {
		for seed := range uint64(100) {
			random := rand.New(rand.NewPCG(seed, 0))
			w := newTrio(t, nil, opts...)
			h := w.hold()
			time.Sleep(session + time.Duration(random.Int64N(int64(session))))
			for _, op := range []zktest.Op{zktest.OpSync, zktest.OpMulti, zktest.OpCreate2} {
				for nth := range 100 {
					w.srv.DelayReply(zktest.Match{Op: op, Nth: nth + 1}, session/6)
				}
			}
			attempts := len(w.dialed())
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			var writers sync.WaitGroup
			for n := range seed % 3 { // none: nothing but the ping's answer says that the server lives
				random := rand.New(rand.NewPCG(seed, 1+n))
				writers.Go(func() {
					for ctx.Err() == nil {
						_, _, _ = w.client.Create(ctx, "/n-", nil, framework.WithMode(framework.EphemeralSequential))
						time.Sleep(time.Duration(random.Int64N(int64(session / 4))))
					}
				})
			}
			<-ctx.Done()
			if err := h.Err(); err != nil || h.ended() {
				t.Errorf("seed %d: the lease ended: %v", seed, err)
			}
			if n := len(w.dialed()) - attempts; n > 1 || seed%3 == 0 && n > 0 {
				t.Errorf("seed %d: moved on %d times in a minute", seed, n)
			}
			writers.Wait()
			stop()
			h.Release()
			wantErr(t, w.client.Close())
		}
	})
}

// The link is slower than an eighth of the timeout: every connection looks silent at first.
func TestASlowLinkIsNotGivenUpForEver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.hold()
		w.link.SetLatency(session / 15) // each way
		time.Sleep(20 * session)
		if n := len(w.states.all()); n != 3 {
			t.Errorf("told %v, want one loss", w.states.all())
		}
		if err := h.Err(); err != nil {
			t.Error(err)
		}
		h.Release()
	})
}
