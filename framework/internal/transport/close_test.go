package transport_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/framework/zktest"
)

// The bubbles prove that no goroutine is left. After Close nothing is looked up or dialed.
func TestCloseIsPromptInEveryPhase(t *testing.T) {
	black := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, c := range map[string]struct {
		dial     func(link *zktest.Link) dialFunc
		bring    func(srv *zktest.Server, link *zktest.Link, heard *recorder, t *testing.T)
		noList   bool          // the list of servers does not come
		lookup   time.Duration // how long each look-up but the first takes
		answered bool
		takes    time.Duration
	}{
		"at once": {},
		"dialing": {dial: func(*zktest.Link) dialFunc { return black }, bring: func(*zktest.Server, *zktest.Link, *recorder, *testing.T) { time.Sleep(time.Hour) }},
		"pausing": {bring: func(_ *zktest.Server, link *zktest.Link, _ *recorder, _ *testing.T) {
			link.Cut()
			time.Sleep(time.Minute + 100*time.Millisecond)
		}},
		"waiting for the list": {
			bring:  func(*zktest.Server, *zktest.Link, *recorder, *testing.T) { time.Sleep(100 * time.Millisecond) },
			noList: true,
		},
		"looking up": {bring: func(_ *zktest.Server, link *zktest.Link, heard *recorder, t *testing.T) {
			attach(t, heard)
			link.Cut()
			time.Sleep(100 * time.Millisecond)
		}, lookup: time.Second, takes: 100 * time.Millisecond},
		"in the handshake": {
			dial:  func(link *zktest.Link) dialFunc { link.SetLatency(time.Second); return link.DialContext },
			bring: func(*zktest.Server, *zktest.Link, *recorder, *testing.T) { time.Sleep(2500 * time.Millisecond) },
			takes: time.Second,
		},
		"attached": {bring: func(_ *zktest.Server, _ *zktest.Link, heard *recorder, t *testing.T) { attach(t, heard) }, answered: true},
		"detached": {bring: func(_ *zktest.Server, link *zktest.Link, heard *recorder, t *testing.T) {
			attach(t, heard)
			link.Cut()
			time.Sleep(time.Second)
		}},
		"mute": {bring: func(_ *zktest.Server, link *zktest.Link, heard *recorder, t *testing.T) {
			attach(t, heard)
			link.Mute()
		}, takes: time.Second},
		"frozen": {bring: func(srv *zktest.Server, _ *zktest.Link, heard *recorder, t *testing.T) {
			attach(t, heard)
			srv.Freeze()
		}, takes: time.Second},
		"expired": {bring: func(srv *zktest.Server, _ *zktest.Link, heard *recorder, t *testing.T) {
			attach(t, heard)
			srv.ExpireSession(heard.attached[0].SessionID)
			time.Sleep(time.Minute)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				srv := server(t)
				link := srv.NewLink()
				dial := link.DialContext
				if c.dial != nil {
					dial = c.dial(link)
				}
				var asked, looked atomic.Int32
				tr, heard := start(t, func(ctx context.Context, network, address string) (net.Conn, error) {
					asked.Add(1)
					return dial(ctx, network, address)
				}, func(cfg *transport.Config) {
					cfg.Route = transport.NewRoute(func(ctx context.Context) []string {
						asked.Add(1)
						if c.noList {
							<-ctx.Done()
						}
						return []string{"zk:2181"}
					}, func(context.Context, string) ([]string, error) {
						asked.Add(1)
						if looked.Add(1) > 1 {
							time.Sleep(c.lookup)
						}
						return []string{"10.0.0.1"}, nil
					})
				})
				if c.bring != nil {
					synctest.Wait()
					c.bring(srv, link, heard, t)
				}
				before, questions := time.Now(), asked.Load()
				if got := tr.Close(time.Second); got != c.answered && c.bring != nil {
					t.Errorf("the farewell was answered: got %t, want %t", got, c.answered)
				}
				if d := time.Since(before); d != c.takes {
					t.Errorf("Close took %v", d)
				}
				events := len(heard.all())
				time.Sleep(time.Hour)
				if len(heard.all()) != events {
					t.Errorf("got the events %v after Close, want none", heard.all()[events:])
				}
				if n := asked.Load() - questions; n > 0 && c.bring != nil {
					t.Errorf("got %d dials and look-ups after Close, want none", n)
				}
				if tr.Send(transport.Sync("/", func(error) {})) {
					t.Error("got a call taken after Close, want it refused")
				}
			})
		})
	}
}

func TestCloseMayBeCalledByMany(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, zktest.New(t).DialContext)
		attach(t, heard)
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { tr.Close(time.Second) })
		}
		wg.Wait()
	})
}

func TestCloseWhileTheConnectionBreaksAndComesBack(t *testing.T) {
	for i := range 100 {
		zktest.Bubble(t, func(t *testing.T) {
			srv := server(t)
			link := srv.NewLink()
			link.SetLatency(time.Millisecond)
			tr, heard := start(t, link.DialContext)
			attach(t, heard)
			tr.Break(errors.New("broken"))
			time.Sleep(time.Duration(i) * 100 * time.Microsecond)
			before := time.Now()
			tr.Close(time.Second)
			if d := time.Since(before); d > 10*time.Millisecond {
				t.Errorf("closed %d µs after the break: it took %v", i*100, d)
			}
		})
	}
}

// A dial takes 100 ms here, a handshake and each round of an exchange as much again.
func TestCloseLeavesNoSessionWhereverTheOpeningIs(t *testing.T) {
	for name, change := range map[string]func(*transport.Config){
		"a handshake":                 func(*transport.Config) {},
		"and a SASL exchange":         func(cfg *transport.Config) { cfg.SASL = talker{rounds: 2} },
		"which fails, and the next":   func(cfg *transport.Config) { cfg.SASL = talker{rounds: 1, fails: true} },
		"which does not heed its end": func(cfg *transport.Config) { cfg.SASL = talker{rounds: 1, takes: 90 * time.Millisecond} },
	} {
		t.Run(name, func(t *testing.T) {
			for at := time.Duration(0); at < 700*time.Millisecond; at += 10 * time.Millisecond {
				zktest.Bubble(t, func(t *testing.T) {
					srv := server(t)
					link := srv.NewLink()
					link.SetLatency(50 * time.Millisecond)
					tr, _ := start(t, link.DialContext, change)
					time.Sleep(at)
					tr.Close(time.Second)
					time.Sleep(100 * time.Millisecond) // what was written arrives
					if left := srv.Sessions(); len(left) > 0 {
						t.Errorf("closed after %v: got %v left at the server, want none", at, left)
					}
				})
			}
		})
	}
}

func TestCloseDuringTheHandshakeOfAReconnectionEndsTheSession(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := server(t)
		link := srv.NewLink()
		tr, heard := start(t, link.DialContext)
		attach(t, heard)
		link.SetLatency(50 * time.Millisecond)
		tr.Break(errors.New("broken"))
		time.Sleep(150 * time.Millisecond) // the handshake is under way
		if answered, left := tr.Close(time.Second), srv.Sessions(); !answered || len(left) > 0 {
			t.Errorf("got answered %t, left %v, want a session that is closed", answered, left)
		}
	})
}

func TestCloseDuringTheExchangeOfAReconnectionEndsTheSession(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := server(t)
		link := srv.NewLink()
		begun := make(beginner, 10)
		tr, heard := start(t, link.DialContext, func(cfg *transport.Config) { cfg.SASL = begun })
		attach(t, heard)
		<-begun
		link.SetLatency(25 * time.Millisecond)
		tr.Break(errors.New("broken"))
		<-begun // the server has moved the session to this connection
		tr.Close(time.Second)
		time.Sleep(100 * time.Millisecond) // what was written arrives
		if left := srv.Sessions(); len(left) > 0 {
			t.Errorf("got sessions %v left at the server, want none", left)
		}
	})
}

// A beginner is a mechanism that says when an exchange begins, and takes a moment for that.
type beginner chan struct{}

func (beginner) Name() string { return "BEGIN" }

func (b beginner) Start(ctx context.Context, _ sasl.Server) (sasl.Exchange, error) {
	b <- struct{}{}
	select {
	case <-time.After(30 * time.Millisecond):
		return &talker{rounds: 1}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A talker is a mechanism that takes any answer.
type talker struct {
	rounds int
	fails  bool          // after these
	takes  time.Duration // each step, whatever its context says
}

func (talker) Name() string { return "TALK" }

func (m talker) Start(context.Context, sasl.Server) (sasl.Exchange, error) { return &m, nil }

func (m *talker) Step([]byte) ([]byte, bool, error) {
	time.Sleep(m.takes)
	if m.rounds == 0 && m.fails {
		return nil, false, errors.New("enough")
	}
	m.rounds--
	return nil, m.rounds < 0, nil
}
