package framework_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/dnstest"
)

// A headless service: one name, three addresses, of which one is silent and one does not serve.
func TestOneNameWithThreeAddresses(t *testing.T) {
	for range 20 {
		zktest.Bubble(t, func(t *testing.T) {
			srv, busy := zktest.NewServer(), zktest.NewServer()
			t.Cleanup(func() { srv.Close(); busy.Close() })
			black := zktest.NewServer()
			t.Cleanup(func() { black.Close() })
			mute, notServing := black.NewLink(), busy.NewLink()
			mute.Mute()
			busy.SetReadOnly(true) // it takes connections, and hangs up on handshakes
			at := map[string]*zktest.Link{"10.0.0.1:2181": srv.NewLink(), "10.0.0.2:2181": mute, "10.0.0.3:2181": notServing}
			w := &env{&clienttest.Env{T: t, Server: srv}}
			before := time.Now()
			client := w.Dial("zk-headless:2181",
				framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
					if at[address] == nil {
						return nil, errors.New("unknown address " + address)
					}
					return at[address].DialContext(ctx, network, address)
				}),
				framework.WithLookup(func(context.Context, string) ([]string, error) {
					return []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, nil
				}))
			must(t, client.BlockUntilConnected(w.Within(time.Minute)))
			if d := time.Since(before); d > 2200*time.Millisecond {
				t.Errorf("connected after %v", d)
			}
		})
	}
}

// The pod behind the name is replaced, and the new one has another address.
func TestANameIsLookedUpAnewAtAReconnection(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		now := "10.0.0.1"
		w := &env{&clienttest.Env{T: t, Server: zktest.NewServer(), States: &clienttest.States{}}}
		t.Cleanup(func() { w.Server.Close() })
		w.Link = w.Server.NewLink()
		w.Client = w.Dial("zk:2181", framework.WithStateListener(w.States.Hear),
			framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				mu.Lock()
				defer mu.Unlock()
				if address != net.JoinHostPort(now, "2181") {
					return nil, errors.New("no server at " + address)
				}
				return w.Link.DialContext(ctx, network, address)
			}),
			framework.WithLookup(func(context.Context, string) ([]string, error) {
				mu.Lock()
				defer mu.Unlock()
				return []string{now}, nil
			}))
		w.Connected()
		s := w.Session()
		mu.Lock()
		now = "10.0.0.2"
		mu.Unlock()
		w.Link.Reset()
		w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		if w.Session() != s {
			t.Errorf("got session %v, want %v", w.Session(), s)
		}
	})
}

// The list is not had any more. The server of the last one has moved, and its name says where to.
func TestAListThatDoesNotComeLeavesTimeForTheLookupOfHosts(t *testing.T) {
	for name, byFunction := range map[string]bool{"silent SRV records": false, "a function that hangs": true} {
		t.Run(name, func(t *testing.T) {
			var dns dnstest.Server
			dns.Resolve(t)
			zktest.Bubble(t, func(t *testing.T) {
				dns.SetSRV(srvName, record("zk.example.", 2181))
				w := &env{&clienttest.Env{T: t, Server: zktest.New(t)}}
				before, after := w.Server.NewLink(), w.Server.NewLink()
				var moved atomic.Bool
				goOn := make(chan struct{})
				connect, opts := "dns-srv://"+srvName, []framework.Option{
					byName(map[string]*zktest.Link{"10.0.0.1:2181": before, "10.0.0.2:2181": after}),
					framework.WithLookup(func(ctx context.Context, _ string) ([]string, error) {
						time.Sleep(5 * time.Millisecond)
						if moved.Load() {
							return []string{"10.0.0.2"}, ctx.Err()
						}
						return []string{"10.0.0.1"}, ctx.Err()
					}),
				}
				if byFunction {
					connect, opts = "", append(opts, framework.WithServers(func(context.Context) ([]string, error) {
						if moved.Load() {
							<-goOn // whatever the context says
						}
						return []string{"zk.example:2181"}, nil
					}))
				}
				client := w.Dial(connect, opts...)
				must(t, client.BlockUntilConnected(t.Context()))
				dns.Mute()
				moved.Store(true)
				before.Cut()
				w.Eventually("suspended", func() bool { return !client.State().IsConnected() })
				wantErr(t, client.BlockUntilConnected(w.Within(time.Minute)))
				close(goOn)
				_ = client.Close()
				time.Sleep(time.Minute) // a look-up lasts until its deadline
			})
		})
	}
}

func TestALookupThatFailsIsNamed(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := &env{&clienttest.Env{T: t, Server: zktest.New(t)}}
		client := w.Dial("zk:2181", framework.WithDialer(w.Server.DialContext), framework.WithLookup(func(context.Context, string) ([]string, error) {
			return nil, errors.New("resolver on holiday")
		}))
		err := client.BlockUntilConnected(w.Within(5 * time.Second))
		if err == nil || !strings.Contains(err.Error(), "looking up zk: resolver on holiday") {
			t.Errorf("got %v", err)
		}
	})
}

// A name server that is down costs some seconds for each suffix, and a resolver that heeds its context is no worse off.
// The last look-up is longer than the connection timeout. Attempts at a server that is dead take up to that.
func TestAClientConnectsAsSoonAsItsServersAreLookedUp(t *testing.T) {
	for connect, later := range map[string]time.Duration{"a:2181": time.Second, "a:2181,b:2181,c:2181": time.Second, "list": time.Second, "10.0.0.9:2181,a:2181": 25 * time.Second} {
		for _, heeds := range []bool{true, false} {
			for _, slow := range []time.Duration{time.Second, 6 * time.Second, 8 * time.Second, 10 * time.Second, 14 * time.Second, 25 * time.Second} {
				t.Run(fmt.Sprintf("%s/%v/%t", connect, slow, heeds), func(t *testing.T) {
					zktest.Bubble(t, func(t *testing.T) {
						w := &env{&clienttest.Env{T: t, Server: zktest.New(t)}}
						find := func(ctx context.Context) error {
							end := ctx.Done()
							if !heeds {
								end = nil
							}
							select {
							case <-time.After(slow):
								return nil
							case <-end:
								return ctx.Err()
							}
						}
						w.Link = w.Server.NewLink()
						servers := connect
						dead := framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
							if address == "10.0.0.9:2181" {
								<-ctx.Done()
								return nil, ctx.Err()
							}
							return w.Link.DialContext(ctx, network, address)
						})
						opts := []framework.Option{dead, framework.WithLookup(func(ctx context.Context, _ string) ([]string, error) {
							return []string{"10.0.0.1"}, find(ctx)
						})}
						if connect == "list" {
							servers, opts = "", []framework.Option{framework.WithServers(func(ctx context.Context) ([]string, error) {
								return []string{"10.0.0.1"}, find(ctx)
							})}
						}
						client := w.Dial(servers, opts...)
						began := time.Now()
						if err := client.BlockUntilConnected(w.Within(time.Minute)); err != nil || time.Since(began) > slow+later {
							t.Errorf("got %v after %v, want a connection", err, time.Since(began))
						}
						_ = client.Close()
						time.Sleep(time.Minute) // a look-up may outlast its client
					})
				})
			}
		}
	}
}

// The server moves, and the first question about it is lost.
func TestOneLostQuestionDoesNotCostTheSession(t *testing.T) {
	for name, byList := range map[string]bool{"host": false, "list": true} {
		zktest.Bubble(t, func(t *testing.T) {
			w := &env{&clienttest.Env{T: t, Server: zktest.New(t)}}
			before, after := w.Server.NewLink(), w.Server.NewLink()
			var moved atomic.Bool
			var asked atomic.Int32
			find := func(ctx context.Context) ([]string, error) {
				switch {
				case !moved.Load():
					return []string{"10.0.0.1"}, nil
				case asked.Add(1) == 1:
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return []string{"10.0.0.2"}, nil
			}
			connect, opt := "zk:2181", framework.WithLookup(func(ctx context.Context, _ string) ([]string, error) { return find(ctx) })
			if byList {
				connect, opt = "", framework.WithServers(find)
			}
			client := w.Dial(connect, opt, byName(map[string]*zktest.Link{"10.0.0.1:2181": before, "10.0.0.2:2181": after}))
			must(t, client.BlockUntilConnected(t.Context()))
			s, err := client.Session(t.Context())
			must(t, err)
			moved.Store(true)
			before.Cut()
			time.Sleep(clienttest.SessionTimeout)
			if client.State() != reconnected || s.Err() != nil {
				t.Errorf("%s: got %v and the session's %v after a session timeout, want a connection", name, client.State(), s.Err())
			}
		})
	}
}
