package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/malformtest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// How an overloaded server answers: OPERATIONTIMEOUT and REQUESTTIMEOUT leave open whether it has executed the request,
// THROTTLEDOP says that it has not.
var overloads = []struct {
	code     int64
	executed bool
}{{-7, false}, {-7, true}, {-122, false}, {-122, true}, {-127, false}}

// overload has the next requests of a kind answered with an error code, executed or not.
func overload(tm *malformtest.Tamperer, kind string, times int, code int64, executed bool) {
	asked, answered := 0, 0
	if !executed {
		tm.Replace(func(k string) bool {
			if k == kind {
				asked++
			}
			return k == kind && asked <= times
		})
	}
	tm.Set(func(k string, frame []byte) []byte {
		if k == kind {
			answered++
		}
		if k != kind || answered > times {
			return malformtest.WithLength(frame)
		}
		return malformtest.WithLength(malformtest.Put(frame[:16], 12, 4, code))
	})
}

// newTampered makes a client behind a tamperer, connected.
func newTampered(t *testing.T, server *zktest.Server, opts ...framework.Option) (*framework.Client, *malformtest.Tamperer) {
	t.Helper()
	link := server.NewLink()
	link.SetLatency(time.Millisecond)
	by := malformtest.NewTamperer(link.DialContext)
	client, err := framework.NewClient("zktest:2181", append([]framework.Option{
		framework.WithDialer(by.DialContext), framework.WithSessionTimeout(sessionTimeout),
		framework.WithConnectionTimeout(malformtest.ConnectTimeout), framework.WithRetryPolicy(retry.NTimes(10, 100*time.Millisecond)),
	}, opts...)...)
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	must(t, client.BlockUntilConnected(t.Context()))
	return client, by
}

func TestALockOnAnOverloadedServerLosesNothing(t *testing.T) {
	for _, o := range overloads {
		for _, kind := range []string{malformtest.FrameCreate, malformtest.FrameListing, malformtest.FrameGet, malformtest.FrameDelete, malformtest.FrameSync} {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				name := fmt.Sprintf("%s, code %d, executed %t", kind, o.code, o.executed)
				honest := newPeer(t, server)
				client, by := newTampered(t, server)
				mutex := locks.NewInterProcessMutex(client, path)
				held := acquire(t, honest.mutex())
				overload(by, kind, 3, o.code, o.executed)
				results := begin(t.Context(), t, mutex)
				time.Sleep(30 * time.Second)
				isWaiting(t, results)
				if nodes := server.Children(path); len(nodes) != 2 {
					t.Errorf("%s: the nodes while it waits are %q", name, nodes)
				}
				release(t, held)
				lease := soon(t, results).must(t)
				time.Sleep(10 * time.Second) // the watch on its node is set now
				if err := lease.Err(); err != nil {
					t.Errorf("%s: the lease ended: %v", name, err)
				}
				release(t, lease)
				time.Sleep(10 * time.Second)
				if nodes := server.Children(path); len(nodes) != 0 {
					t.Errorf("%s: %q is left", name, nodes)
				}
			})
		}
	}
}

func TestTheWatchOnTheOwnNodeIsSetAgainOnAnOverloadedServer(t *testing.T) {
	for _, o := range overloads {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, by := newTampered(t, server)
			overload(by, malformtest.FrameGet, 3, o.code, o.executed)
			lease := acquire(t, locks.NewInterProcessMutex(client, path))
			time.Sleep(20 * time.Second)
			if by.Count(malformtest.FrameGet) < 4 {
				t.Errorf("code %d: %d reads", o.code, by.Count(malformtest.FrameGet))
			}
			admin := newPeer(t, server)
			must(t, admin.Delete(t.Context(), path+"/"+lease.NodeName(), -1))
			synctest.Wait()
			time.Sleep(10 * time.Millisecond)
			if !errors.Is(lease.Err(), locks.ErrLeaseLost) {
				t.Errorf("code %d: the removal of the node was missed: %v", o.code, lease.Err())
			}
		})
	}
}

// The node changes, and the server refuses to set the watch again with the next look at it.
func TestNothingIsKnownOfANodeWhoseWatchIsRefusedUntilItIsSet(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, by := newTampered(t, server)
		must(t, server.Create("/a", []byte("1")))
		s, err := client.Session(t.Context())
		must(t, err)
		watch := s.WatchData("/a", func() {})
		defer watch.Stop()
		time.Sleep(10 * time.Millisecond)
		if got := watch.View(); got.Status != framework.StatusPresent || !got.Current {
			t.Errorf("got %+v before the change, want it present and armed", got)
		}
		overload(by, malformtest.FrameGet, 5, -127, false)
		must(t, server.SetData("/a", []byte("2")))
		time.Sleep(10 * time.Millisecond)
		if got := watch.View(); got.Status != framework.StatusUnknown || got.Current {
			t.Errorf("got %+v while the server refuses, want it unknown", got)
		}
		time.Sleep(time.Second)
		if got := watch.View(); got.Status != framework.StatusPresent || !got.Current || string(got.Data) != "2" {
			t.Errorf("got %+v when the server has set it, want it present and armed, with data 2", got)
		}
	})
}

// The server refuses to set the watch for a minute. The connection stays, and the requests come ever more slowly.
func TestAWatchIsAskedForAgainOnTheSameConnectionWithGrowingPauses(t *testing.T) {
	for _, code := range []int64{-7, -122, -127} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, by := newTampered(t, server)
			lease := acquire(t, locks.NewInterProcessMutex(client, path))
			dials, _ := by.Sent()
			overload(by, malformtest.FrameGet, 1_000_000, code, false)
			time.Sleep(time.Minute)
			if got := by.Count(malformtest.FrameGet); got < 50 || got > 150 {
				t.Errorf("code %d: got %d requests in a minute, want about one each second", code, got)
			}
			for last := by.Count(malformtest.FrameGet); by.Count(malformtest.FrameGet) == last; {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(10 * time.Millisecond) // it is answered now, and the next one is far
			overload(by, malformtest.FrameGet, 0, code, false)
			time.Sleep(2 * time.Second)
			if got, _ := by.Sent(); got != dials {
				t.Errorf("code %d: got %d new connections, want none", code, got-dials)
			}
			must(t, server.Delete(path+"/"+lease.NodeName()))
			synctest.Wait()
			time.Sleep(10 * time.Millisecond)
			if !errors.Is(lease.Err(), locks.ErrRemoved) {
				t.Errorf("code %d: got %v after the removal of the node, want %v", code, lease.Err(), locks.ErrRemoved)
			}
		})
	}
}

func TestATransactionOnAnOverloadedServerIsNeverExecutedTwice(t *testing.T) {
	for _, o := range overloads {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			name := fmt.Sprintf("code %d, executed %t", o.code, o.executed)
			client, by := newTampered(t, server)
			must(t, server.Create("/t", nil))
			overload(by, malformtest.FrameMulti, 1, o.code, o.executed)
			_, err := client.Transaction(t.Context(), framework.CreateOp("/t/n-", nil, framework.WithMode(framework.PersistentSequential)))
			certain := o.code == -127 // the error proves that it was not executed
			if (err == nil) != certain || err != nil && !strings.Contains(err.Error(), "TIMEOUT") {
				t.Errorf("%s: %v", name, err)
			}
			requests, made := by.Count(malformtest.FrameMulti), len(server.Children("/t"))
			if want := map[bool]int{true: 2, false: 1}[certain]; requests != want {
				t.Errorf("%s: sent %d times, want %d", name, requests, want)
			}
			if want := map[bool]int{true: 1, false: 0}[certain || o.executed]; made != want {
				t.Errorf("%s: %d nodes, want %d", name, made, want)
			}
		})
	}
}

func TestOperationsOnAnOverloadedServerAreTriedAgain(t *testing.T) {
	for _, o := range overloads {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, by := newTampered(t, server)
			must(t, server.Create("/a", []byte("x")))
			for _, kind := range []string{malformtest.FrameListing, malformtest.FrameGet, malformtest.FrameSync, malformtest.FrameExists, malformtest.FrameCreate, malformtest.FrameDelete} {
				overload(by, kind, 2, o.code, o.executed)
				var err error
				switch kind {
				case malformtest.FrameListing:
					_, _, err = client.Children(t.Context(), "/")
				case malformtest.FrameGet:
					_, _, err = client.Get(t.Context(), "/a")
				case malformtest.FrameSync:
					err = client.Sync(t.Context(), "/")
				case malformtest.FrameExists:
					_, err = client.Exists(t.Context(), "/a")
				case malformtest.FrameCreate:
					_, _, err = client.Create(t.Context(), "/p", nil, framework.WithProtection())
				case malformtest.FrameDelete:
					err = client.Delete(t.Context(), "/a", -1)
				}
				if err != nil {
					t.Errorf("%s, code %d, executed %t: %v", kind, o.code, o.executed, err)
				}
			}
			time.Sleep(time.Minute)
			nodes := slices.DeleteFunc(server.Children("/"), func(name string) bool { return name == "zookeeper" })
			if len(nodes) != 1 || !strings.HasSuffix(nodes[0], "-p") {
				t.Errorf("code %d, executed %t: %q is left, want the protected node alone", o.code, o.executed, nodes)
			}
		})
	}
}

// makeDirectory makes the lock's directory, as a node that stays when it is empty.
func makeDirectory(t *testing.T, server *zktest.Server) {
	t.Helper()
	must(t, errors.Join(server.Create("/locks", nil), server.Create(path, nil)))
}

// The server has a million other children in the directory. The answer has 20 MB, the client takes 16 MiB.
func TestADirectoryWithAMillionStrangersIsRefusedByName(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, by := newTampered(t, server)
		makeDirectory(t, server)
		names := make([]string, 0, 1_000_000)
		for i := range cap(names) {
			names = append(names, fmt.Sprintf("stranger-%07d", i))
		}
		spoil := malformtest.Relist(true, func([]string) []string { return names })
		by.Set(func(kind string, frame []byte) []byte {
			if kind == malformtest.FrameListing {
				frame = spoil(frame)
			}
			return malformtest.WithLength(frame)
		})
		dials, _ := by.Sent()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		_, err := locks.NewInterProcessMutex(client, path).Acquire(ctx)
		if !errors.Is(err, framework.ErrTooLarge) || !strings.Contains(err.Error(), "list "+path) || !strings.Contains(err.Error(), "WithMaxResponse") {
			t.Errorf("got %v", err)
		}
		if d := time.Since(began); d > time.Second || by.Count(malformtest.FrameListing) != 1 {
			t.Errorf("it took %v and %d listings", d, by.Count(malformtest.FrameListing))
		}
		time.Sleep(time.Second)
		if more, _ := by.Sent(); more != dials || len(server.Children(path)) != 0 {
			t.Errorf("%d new connections, %q is left", more-dials, server.Children(path))
		}
	})
}

// The node of each try is missing from every listing.
func TestAContenderWhoseNodeVanishesEachTimePausesEverLonger(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, by := newTampered(t, server)
		makeDirectory(t, server)
		spoil := malformtest.Relist(true, func([]string) []string { return nil })
		by.Set(func(kind string, frame []byte) []byte {
			if kind == malformtest.FrameListing {
				frame = spoil(frame)
			}
			return malformtest.WithLength(frame)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := locks.NewInterProcessMutex(client, path).Acquire(ctx)
		if n := by.Count(malformtest.FrameCreate); !errors.Is(err, context.DeadlineExceeded) || n < 50 || n > 150 {
			t.Errorf("%d creations in a minute, %v", n, err)
		}
		results := begin(t.Context(), t, locks.NewInterProcessMutex(client, path))
		time.Sleep(10 * time.Second)
		began := time.Now()
		_ = client.Close()
		if r := soon(t, results); !errors.Is(r.err, framework.ErrClosed) || r.at.Sub(began) > 100*time.Millisecond {
			t.Errorf("after Close: %v, %v later", r.err, r.at.Sub(began))
		}
	})
}

// The answer to the creation is lost, and the server that is asked for the node is overloaded.
func TestALostCreationIsFoundOnAnOverloadedServer(t *testing.T) {
	for _, o := range overloads {
		for _, kind := range []string{malformtest.FrameExists, malformtest.FrameListing, malformtest.FrameSync} {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				name := fmt.Sprintf("%s, code %d, executed %t", kind, o.code, o.executed)
				client, by := newTampered(t, server)
				release(t, acquire(t, locks.NewInterProcessMutex(client, path)))
				overload(by, kind, 3, o.code, o.executed)
				server.DropReply(zktest.Match{Op: zktest.OpCreate2, Path: path + "/*"})
				r := soon(t, begin(t.Context(), t, locks.NewInterProcessMutex(client, path)))
				if r.err != nil {
					t.Errorf("%s: %v", name, r.err)
				}
				time.Sleep(10 * time.Second)
				want := 1
				if r.err != nil {
					want = 0
				}
				if nodes := server.Children(path); len(nodes) != want {
					t.Errorf("%s: the nodes are %q, want %d", name, nodes, want)
				}
				if r.err == nil {
					release(t, r.lease)
				}
			})
		}
	}
}
