package locks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// askToLeave writes what Revoker writes, and lets the news arrive.
func askToLeave(t *testing.T, p *peer, node string) {
	t.Helper()
	must(t, locks.AttemptRevoke(t.Context(), p.Client, node))
	settle()
}

func isAsked(lease *locks.Lease) bool {
	select {
	case <-lease.RevocationRequested():
		return true
	default:
		return false
	}
}

func wantAsked(t *testing.T, lease *locks.Lease, want bool) {
	t.Helper()
	synctest.Wait()
	if isAsked(lease) != want {
		t.Errorf("asked to leave: %v, want %v", !want, want)
	}
	if lease.Err() != nil {
		t.Errorf("the lease has ended: %v", lease.Err())
	}
}

// requests counts the calls of a trace.
type requests struct {
	mu   sync.Mutex
	told []locks.RevocationRequested
}

func (r *requests) trace() locks.Option {
	return locks.WithTrace(locks.Trace{RevocationRequested: func(one locks.RevocationRequested) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told = append(r.told, one)
	}})
}

func (r *requests) want(t *testing.T, want ...locks.RevocationRequested) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.told) != len(want) {
		t.Errorf("the trace: got %v, want %v", r.told, want)
		return
	}
	for i, one := range r.told {
		if one != want[i] {
			t.Errorf("the trace: got %v, want %v", one, want[i])
		}
	}
}

// Curator: testRevoking. For every recipe: a client that wants the lock finds its holder among the participants and
// asks it to leave.
func TestHolderThatIsAskedToLeaveLetsTheNextOneIn(t *testing.T) {
	type participants interface {
		Participants(ctx context.Context) ([]locks.Participant, error)
	}
	for name, lock := range map[string]func(*peer) locks.Lock{
		"mutex":           func(p *peer) locks.Lock { return p.mutex() },
		"write lock":      func(p *peer) locks.Lock { return readWrite(p).WriteLock() },
		"semaphore":       func(p *peer) locks.Lock { return semaphore(p, 1) },
		"semaphore mutex": func(p *peer) locks.Lock { return semaphoreMutex(p) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p, other := newPeer(t, server), newPeer(t, server)
				lease := acquire(t, lock(p))
				settle()
				waiter := begin(t.Context(), t, lock(other))
				wantAsked(t, lease, false)
				line, err := lock(other).(participants).Participants(t.Context())
				if err != nil || len(line) == 0 {
					t.Fatal(line, err)
				}
				askToLeave(t, other, line[0].Path)
				wantAsked(t, lease, true)
				isWaiting(t, waiter) // the holder is asked, not forced
				release(t, lease)
				next := (<-waiter).must(t)
				settle()
				wantAsked(t, next, false)
			})
		})
	}
}

func TestRequestBeforeTheGrantCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		held := acquire(t, other.mutex())
		var told requests
		waiter := begin(t.Context(), t, p.mutex(told.trace()))
		node := ownNode(t, server, p, path)
		askToLeave(t, other, node)
		isWaiting(t, waiter)
		told.want(t)
		release(t, held)
		lease := (<-waiter).must(t)
		if !isAsked(lease) {
			t.Error("got a lease that is not asked to leave when Acquire returns, want it asked")
		}
		told.want(t, locks.RevocationRequested{Path: path, Node: lease.NodeName()})
	})
}

// The request comes between the creation of the node and the first watch on it.
func TestRequestBeforeTheFirstWatchCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, p.mutex())
		must(t, server.SetData(path+"/"+lease.NodeName(), []byte("__REVOKE__")))
		settle()
		wantAsked(t, lease, true)
	})
}

func TestRequestDuringAnOutageIsHeardAfterIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		lease := acquire(t, p.mutex())
		settle()
		p.link.Cut()
		askToLeave(t, other, path+"/"+lease.NodeName())
		wantAsked(t, lease, false)
		p.link.Heal()
		settle()
		wantAsked(t, lease, true)
	})
}

func TestRequestIsForAllLeasesOfAHoldAndIsTracedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		var told requests
		mutex := p.mutex(told.trace())
		outer := acquire(t, mutex)
		inner := acquireIn(outer.Context(t.Context()), t, mutex)
		settle()
		for range 3 {
			askToLeave(t, other, path+"/"+outer.NodeName())
		}
		wantAsked(t, outer, true)
		wantAsked(t, inner, true)
		later := acquireIn(outer.Context(t.Context()), t, mutex)
		wantAsked(t, later, true)
		told.want(t, locks.RevocationRequested{Path: path, Node: outer.NodeName()})
		for _, lease := range []*locks.Lease{inner, outer, later} {
			release(t, lease)
		}
		next := acquire(t, mutex) // another hold, which was not asked to leave
		settle()
		wantAsked(t, next, false)
		askToLeave(t, other, path+"/"+next.NodeName())
		wantAsked(t, next, true)
	})
}

func TestOtherDataIsNoRequest(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, p.mutex())
		settle()
		for _, data := range []string{"", "__REVOKE", "__REVOKE__ ", "__revoke__", "x"} {
			must(t, server.SetData(path+"/"+lease.NodeName(), []byte(data)))
			settle()
			wantAsked(t, lease, false)
		}
		must(t, server.SetData(path+"/"+lease.NodeName(), []byte("__REVOKE__")))
		settle()
		wantAsked(t, lease, true)
	})
}

func TestRequestToAPartIsOneToTheMultiLock(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		outer := acquire(t, locks.NewInterProcessMultiLock(multiMutex(p, "/a", "/b"), semaphore(p, 2)))
		settle()
		parts := outer.Parts()
		askToLeave(t, other, leasesPath+"/"+parts[1].NodeName())
		wantAsked(t, outer, true)
		wantAsked(t, parts[1], true)
		wantAsked(t, parts[0], false)
		askToLeave(t, other, "/b/"+parts[0].Parts()[1].NodeName())
		wantAsked(t, parts[0], true)
		wantAsked(t, parts[0].Parts()[0], false)
		release(t, outer)
	})
}

// A part was asked to leave while the multi-lock waited for the next one.
func TestRequestBeforeTheMultiLockIsCompleteCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		held := acquire(t, locks.NewInterProcessMutex(other.Client, "/b"))
		waiter := begin(t.Context(), t, multiMutex(p, "/a", "/b"))
		settle()
		askToLeave(t, other, ownNode(t, server, p, "/a"))
		release(t, held)
		wantAsked(t, (<-waiter).must(t), true)
	})
}

func TestReaderAndWriterOfOneOwnerAreAskedEachForItself(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		write := acquire(t, readWrite(p).WriteLock())
		read := acquireIn(write.Context(t.Context()), t, readWrite(p).ReadLock())
		settle()
		askToLeave(t, other, path+"/"+read.NodeName())
		wantAsked(t, read, true)
		wantAsked(t, write, false)
	})
}

func TestRevokeOfANodeThatIsGoneSaysSo(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, p.mutex())
		release(t, lease)
		wantErr(t, locks.AttemptRevoke(t.Context(), p.Client, path+"/"+lease.NodeName()), zk.ErrNoNode)
		if server.Exists(path + "/" + lease.NodeName()) {
			t.Error("got a node made by AttemptRevoke, want none")
		}
	})
}

func TestARevokeThatIsRefusedSaysWhy(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, p.mutex())
		node := path + "/" + lease.NodeName()
		if _, err := p.SetACL(t.Context(), node, zk.WorldACL(zk.PermRead), -1); err != nil {
			t.Fatal(err)
		}
		wantErr(t, locks.AttemptRevoke(t.Context(), p.Client, node), zk.ErrNoAuth)
		wantErr(t, locks.AttemptRevoke(t.Context(), p.Client, "node"), framework.ErrInvalidPath)
		if err := locks.AttemptRevoke(t.Context(), nil, node); err == nil {
			t.Error("got no error without a client, want one")
		}
		wantAsked(t, lease, false)
	})
}

// Holders do not poll: a request is one event, and one read. Besides, the node is read when it has been held for one
// session timeout, two, four and so on, in case an event was lost.
func TestRequestCostsTheHolderOneRead(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		lease := acquire(t, p.mutex())
		settle()
		p.link.Requests()
		time.Sleep(time.Hour)
		if sent := p.link.Requests(); len(sent) != 1 || sent[lockstest.GetData] != readsAgain(time.Hour) {
			t.Errorf("in an hour without a request it sent %v", sent)
		}
		askToLeave(t, other, path+"/"+lease.NodeName())
		time.Sleep(time.Minute)
		if sent := p.link.Requests(); len(sent) != 1 || sent[lockstest.GetData] != 1 {
			t.Errorf("it sent %v", sent)
		}
		wantAsked(t, lease, true)
	})
}
