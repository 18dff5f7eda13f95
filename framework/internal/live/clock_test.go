package live_test

import (
	"context"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/internal/sampletest"
	"github.com/gocurator/curator/framework/zktest"
)

// Shortly before the end of an idle session's validity the next look at the clock would come too late.
func TestABindingThatBeginsLateIsRenewed(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/a", framework.WithMode(framework.Ephemeral))
		s := w.Session()
		time.Sleep(time.Until(s.ValidUntil()) - clienttest.SessionTimeout/10)
		h := w.Bind()
		time.Sleep(clienttest.SessionTimeout)
		wantErr(t, h.Err())
	})
}

func TestAContenderAloneKeepsTheSessionValid(t *testing.T) {
	for name, c := range map[string]struct {
		opts []framework.Option
		rely func(s framework.Session) (stop func())
	}{
		"a contender, beside one that has stopped": {nil, func(s framework.Session) func() {
			stop := s.StartRenewal()
			s.StartRenewal()()
			return stop
		}},
		"a watch, renewed by the leader": {
			[]framework.Option{framework.WithSyncRenewal()},
			func(s framework.Session) func() {
				watch := s.WatchData("/a", func() {})
				return func() { watch.Stop() }
			},
		},
		"a tree, renewed by the leader": {
			[]framework.Option{framework.WithSyncRenewal()},
			func(s framework.Session) func() {
				tree := &listener{}
				wantErr(t, s.WatchTree("/a", tree))
				return func() { s.UnwatchTree("/a", tree) }
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/a")
				s := w.Session()
				time.Sleep(clienttest.SessionTimeout / 2)
				defer c.rely(s)()
				time.Sleep(clienttest.SessionTimeout * 2 / 5)
				if left := time.Until(s.ValidUntil()); left < clienttest.SessionTimeout/2-slack {
					t.Errorf("it is valid for %v more", left)
				}
			}, c.opts...)
		})
	}
}

// trio is an ensemble of three and one client, with a link of its own to each server.
type trio struct {
	*env
	ens   *zktest.Ensemble
	links map[string]*zktest.Link // by address

	mu    sync.Mutex
	dials []string
}

func newTrio(t *testing.T, opts []zktest.Option, more ...framework.Option) *trio {
	ens := zktest.NewEnsemble(3, opts...)
	t.Cleanup(func() { ens.Close() })
	w := &trio{env: &env{&clienttest.Env{T: t, Server: ens.Leader(), States: &clienttest.States{}}}, ens: ens, links: map[string]*zktest.Link{}}
	for i, address := range ens.Addrs() {
		w.links[address] = ens.Server(i).NewLink()
	}
	w.Client = w.Dial(strings.Join(ens.Addrs(), ","), append([]framework.Option{
		framework.WithStateListener(w.States.Hear), framework.WithDialer(w.dialServer),
	}, more...)...)
	w.Connected()
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
	t.Run("sync", func(t *testing.T) { zktest.Bubble(t, func(t *testing.T) { f(t, framework.WithSyncRenewal()) }) })
}

// The server falls silent at any moment of the renewals; the others answer.
func TestAServerThatFallsSilentEndsNoLease(t *testing.T) {
	bothWays(t, func(t *testing.T, opts ...framework.Option) {
		for seed := range uint64(40) {
			random := rand.New(rand.NewPCG(seed, 0))
			w := newTrio(t, nil, opts...)
			h := w.Bind()
			time.Sleep(clienttest.SessionTimeout + time.Duration(random.Int64N(int64(clienttest.SessionTimeout))))
			mute := w.here()
			w.links[mute].Mute()
			silent := time.Now()
			w.Eventually("moved on", func() bool { return w.here() != mute })
			if d := time.Since(silent); d > clienttest.SessionTimeout*3/8+slack {
				t.Errorf("seed %d: moved on after %v, want a quarter and an eighth of %v at most", seed, d, clienttest.SessionTimeout)
			}
			time.Sleep(2 * clienttest.SessionTimeout)
			if err := h.Err(); err != nil || h.Ended() {
				t.Errorf("seed %d: the lease ended: %v", seed, err)
			}
			if n := len(w.dialed()); n > 3 {
				t.Errorf("seed %d: %d attempts to reach one of two good servers", seed, n-1)
			}
			h.Release()
			w.links[mute].Heal()
			wantErr(t, w.Client.Close())
		}
	})
}

// Writes and syncs are answered after a sixth of the session timeout for a minute, and some writes of the client's own
// are under way. Whatever is asked behind them is answered behind them, pings too.
func TestSlowCommitsEndNoLease(t *testing.T) {
	bothWays(t, func(t *testing.T, opts ...framework.Option) {
		for _, i := range sampletest.New(t).Part(100, 3) {
			seed := uint64(i)
			random := rand.New(rand.NewPCG(seed, 0))
			w := newTrio(t, nil, opts...)
			h := w.Bind()
			time.Sleep(clienttest.SessionTimeout + time.Duration(random.Int64N(int64(clienttest.SessionTimeout))))
			for _, op := range []zktest.Op{zktest.OpSync, zktest.OpMulti, zktest.OpCreate2} {
				for nth := range 100 {
					w.Server.DelayReply(zktest.Match{Op: op, Nth: nth + 1}, clienttest.SessionTimeout/6)
				}
			}
			attempts := len(w.dialed())
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			var writers sync.WaitGroup
			for n := range seed % 3 { // none: nothing but the ping's answer says that the server lives
				random := rand.New(rand.NewPCG(seed, 1+n))
				writers.Go(func() {
					for ctx.Err() == nil {
						_, _, _ = w.Client.Create(ctx, "/n-", nil, framework.WithMode(framework.EphemeralSequential))
						time.Sleep(time.Duration(random.Int64N(int64(clienttest.SessionTimeout / 4))))
					}
				})
			}
			<-ctx.Done()
			if err := h.Err(); err != nil || h.Ended() {
				t.Errorf("seed %d: the lease ended: %v", seed, err)
			}
			if n := len(w.dialed()) - attempts; n > 1 || seed%3 == 0 && n > 0 {
				t.Errorf("seed %d: moved on %d times in a minute", seed, n)
			}
			writers.Wait()
			stop()
			h.Release()
			_ = w.Client.Close() // servers this slow may not answer in time
		}
	})
}

// The link is slower than an eighth of the timeout: every connection looks silent at first.
func TestASlowLinkIsNotGivenUpForEver(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		h := w.Bind()
		w.Link.SetLatency(clienttest.SessionTimeout / 15) // each way
		time.Sleep(20 * clienttest.SessionTimeout)
		if n := len(w.States.All()); n != 3 {
			t.Errorf("got the states %v, want one loss", w.States.All())
		}
		wantErr(t, h.Err())
		h.Release()
	})
}

// The patience that a slow link has got goes when its answers are quick again.
func TestASilentServerIsLeftSoonAfterASlowLinkHasRecovered(t *testing.T) {
	const timeout = clienttest.SessionTimeout
	bubble(t, func(t *testing.T, w *env) {
		s, h := w.Session(), w.Bind()
		w.Link.SetLatency(timeout / 15) // each way
		time.Sleep(20 * timeout)
		w.Link.SetLatency(0)
		time.Sleep(2 * timeout)
		w.Link.Mute()
		silent := time.Now()
		w.Eventually("left", func() bool { return !s.Connected() })
		if d := time.Since(silent); d > timeout*3/8+slack {
			t.Errorf("left after %v, want a quarter and an eighth of %v at most", d, timeout)
		}
		h.Release()
	})
}
