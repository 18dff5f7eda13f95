package counters_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/counters"
)

// A thread of the server has read the write and stands still. The client's connection breaks, and the write is sent
// again on the next one. Then the thread goes on.
func TestAWriteThatIsExecutedLateChangesNothing(t *testing.T) {
	for name, others := range map[string]func(t *testing.T, server *zktest.Server){
		"after its second try":      nil,
		"after that of another Add": writes(20),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				number(t, server, 5)
				l, link := newLong(t, server)
				release := server.Stall(write)
				done := add(t.Context(), l, 1)
				synctest.Wait()
				if others != nil {
					others(t, server)
				}
				link.Reset()
				got := <-done
				if got.err != nil || got.after != got.before+1 {
					t.Errorf("got %+v, want it counted", got)
				}
				release()
				wantNumber(t, server, got.after)
			})
		})
	}
}

// The one way in which a late write is executed: the node is another one, of the same version. The page says so.
func TestAWriteThatIsExecutedLatePassesForOneOfANewNodeOfTheSameVersion(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		l, link := newLong(t, server)
		release := server.Stall(write)
		done := add(t.Context(), l, 1)
		synctest.Wait()
		link.Reset()
		if got := <-done; got != (added{5, 6, nil}) {
			t.Errorf("got %+v, want it counted", got)
		}
		recreate(0, 0)(t, server)
		release()
		wantNumber(t, server, 6)
	})
}

// The creation may still be executed: a parent that is made again would let it.
func TestInitializeWhoseParentGoesAfterALostAnswerIsUnknown(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		must(t, server.Create("/numbers", nil))
		l, link := newLong(t, server)
		defer server.Stall(write)()
		done := make(chan error, 1)
		go func() {
			_, err := l.Initialize(t.Context(), 9)
			done <- err
		}()
		synctest.Wait()
		must(t, server.Delete("/numbers"))
		link.Reset()
		wantUnknown(t, <-done, framework.ErrConnectionLost)
		if server.Exists("/numbers") {
			t.Error("got the parent made again, want none")
		}
	})
}

func TestAnAddGoesOnInTheNextSession(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		client, _ := newClient(t, server)
		l := counters.NewDistributedAtomicLong(client, path)
		old, err := client.Session(t.Context())
		must(t, err)
		release := server.HoldRequest(write)
		done := add(t.Context(), l, 1)
		synctest.Wait()
		server.ExpireSession(old.ID())
		release()
		if got := <-done; got != (added{5, 6, nil}) {
			t.Errorf("got %+v, want it counted in the next session", got)
		}
		wantNumber(t, server, 6)
	})
}

// The connection stays, and the client gives it up by and by.
func TestAnAnswerThatTheServerHasLostIsALostAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		l, _ := newLong(t, server)
		server.SwallowReply(write)
		_, _, err := l.Add(t.Context(), 1)
		wantUnknown(t, err, framework.ErrConnectionLost)
		wantNumber(t, server, 6)
	})
}

// A proxy, for instance, that lets no transaction pass.
func TestAServerThatHangsUpOnEachWriteEndsTheAdd(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		l, _ := newLong(t, server)
		for nth := range 500 {
			lost := write
			lost.Nth = nth + 1
			server.DropRequest(lost)
		}
		arrived := server.CountRequests(write)
		began := time.Now()
		_, _, err := l.Add(t.Context(), 1)
		wantUnknown(t, err, framework.ErrConnectionLost)
		if took, n := time.Since(began), arrived(); took > 10*time.Second || n > 0 && n != 10 {
			t.Errorf("got %d tries in %v, want ten in some seconds", n, took)
		}
		wantNumber(t, server, 5)
	})
}

func TestANodeThatCannotBeReadAfterALostAnswerIsUnknown(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		l, _ := newLong(t, server)
		server.DropReply(write)
		before(t, server, zktest.OpMulti, func(nth int) {
			if nth == 2 {
				const change = 2
				if err := server.SetACL(path, zktest.ACL{Perms: change, Scheme: "world", ID: "anyone"}); err != nil {
					t.Error(err)
				}
			}
		})
		_, _, err := l.Add(t.Context(), 1)
		wantUnknown(t, err, framework.ErrConnectionLost, zk.ErrNoAuth)
	})
}

// The client's server executes the write, and its answer is lost in the election; or it hangs there, since the server
// is cut off from the leader, and is lost with the connection.
func TestAnElectionLosesNoAddAndCountsNoneTwice(t *testing.T) {
	for name, cutOff := range map[string]bool{"executed": false, "not executed": true} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				ensemble := zktest.NewEnsemble(3)
				defer func() { _ = ensemble.Close() }()
				put(t, ensemble.Leader(), nil)
				client, err := framework.NewClient(ensemble.Addrs()[1], framework.WithDialer(ensemble.DialContext))
				must(t, err)
				defer func() { _ = client.Close() }()
				l := counters.NewDistributedAtomicLong(client, path)
				wantAdd(t, l, 4, 0, 4)
				server := ensemble.Server(1)
				if cutOff {
					before(t, server, zktest.OpGetData, func(nth int) {
						if nth == 1 {
							ensemble.Isolate(1)
						}
					})
				} else {
					server.DelayReply(write, time.Minute)
				}
				done := add(t.Context(), l, 1)
				synctest.Wait()
				ensemble.Elect(2)
				ensemble.Rejoin(1)
				if got := <-done; cutOff && got != (added{4, 5, nil}) {
					t.Errorf("got %+v, want it counted", got)
				} else if !cutOff {
					wantUnknown(t, got.err, framework.ErrConnectionLost)
				}
				wantNumber(t, ensemble.Leader(), 5)
			})
		})
	}
}

// A server that is behind shows an old number. The write is refused, and by then the server has caught up.
func TestAServerThatIsBehindCostsARace(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ensemble := zktest.NewEnsemble(2)
		defer func() { _ = ensemble.Close() }()
		number(t, ensemble.Leader(), 5)
		client, err := framework.NewClient(ensemble.Addrs()[1], framework.WithDialer(ensemble.DialContext))
		must(t, err)
		defer func() { _ = client.Close() }()
		l := counters.NewDistributedAtomicLong(client, path)
		wantAdd(t, l, 1, 5, 6)
		ensemble.SetLag(1, time.Second)
		number(t, ensemble.Leader(), 40)
		if n, err := l.Get(t.Context()); n != 6 || err != nil {
			t.Errorf("Get at the server that is behind: got %d, %v, want 6", n, err)
		}
		wantAdd(t, l, 1, 40, 41)
		if ok, err := l.CompareAndSet(t.Context(), 41, 42); !ok || err != nil {
			t.Errorf("got %v, %v, want true", ok, err)
		}
	})
}
