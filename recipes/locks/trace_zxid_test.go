package locks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// zxids has the reports of a trace, and what the server has executed.
type zxids struct {
	mu       sync.Mutex
	ends     []locks.AcquireEnd
	released []locks.Released
	lost     []locks.Lost
	executed []zktest.Transaction
}

func observeZxids(server *zktest.Server) *zxids {
	z := &zxids{}
	server.ObserveTransactions(func(txn zktest.Transaction) { keep(z, &z.executed, txn) })
	return z
}

func keep[T any](z *zxids, to *[]T, one T) {
	z.mu.Lock()
	defer z.mu.Unlock()
	*to = append(*to, one)
}

func (z *zxids) trace() locks.Option {
	return locks.WithTrace(locks.Trace{
		AcquireEnd: func(_ context.Context, e locks.AcquireEnd) { keep(z, &z.ends, e) },
		Released:   func(r locks.Released) { keep(z, &z.released, r) },
		Lost:       func(l locks.Lost) { keep(z, &z.lost, l) },
	})
}

// of returns the zxid of a change of a node.
func (z *zxids) of(kind zktest.ChangeKind, node string) int64 {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, txn := range z.executed {
		for _, c := range txn.Changes {
			if c.Kind == kind && c.Path == node {
				return txn.Zxid
			}
		}
	}
	return 0
}

// A record of a hold is laid over the servers' log: its zxids must be those that the client had seen, not later ones.
func TestTraceSaysWhichTransactionsTheClientHadSeen(t *testing.T) {
	for name, lock := range map[string]func(*peer, locks.Option) locks.Lock{
		"mutex": func(p *peer, o locks.Option) locks.Lock { return p.mutex(o) },
		"retained": func(p *peer, o locks.Option) locks.Lock {
			return p.mutex(o).Retained(locks.RetainIdle(time.Millisecond))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				z, p := observeZxids(server), newPeer(t, server)
				lease := acquire(t, lock(p, z.trace()))
				if _, _, err := p.Create(t.Context(), "/seen", nil); err != nil {
					t.Fatal(err)
				}
				must(t, server.Create("/unseen", nil))
				release(t, lease)
				time.Sleep(time.Second) // a retained node goes meanwhile
				synctest.Wait()
				node := path + "/" + lease.NodeName()
				created, deleted := z.of(zktest.Created, node), z.of(zktest.Deleted, node)
				seen, unseen := z.of(zktest.Created, "/seen"), z.of(zktest.Created, "/unseen")
				if deleted == 0 || len(z.ends) != 1 || len(z.released) != 1 {
					t.Fatalf("got deletion %#x, ends %+v, releases %+v, want one of each", deleted, z.ends, z.released)
				}
				s, err := p.Session(t.Context())
				must(t, err)
				end, got := z.ends[0], z.released[0]
				if end.Session != s.ID() || end.Token != created || end.Zxid < created || end.Zxid >= seen {
					t.Errorf("got session %#x, token %#x and zxid %#x at the begin, want %#x, %#x, and the same to below %#x",
						end.Session, end.Token, end.Zxid, s.ID(), created, seen)
				}
				if got.Zxid < seen || got.Zxid >= unseen {
					t.Errorf("got zxid %#x at the end, want %#x to below %#x: the client has not seen that", got.Zxid, seen, unseen)
				}
			})
		})
	}
}

func TestTraceOfALossSaysWhatTheClientHadSeen(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		z, p := observeZxids(server), newPeer(t, server)
		lease := acquire(t, p.mutex(z.trace()))
		if _, _, err := p.Create(t.Context(), "/seen", nil); err != nil {
			t.Fatal(err)
		}
		p.link.Cut()
		must(t, server.Create("/unseen", nil))
		<-lease.Done()
		synctest.Wait()
		seen, unseen := z.of(zktest.Created, "/seen"), z.of(zktest.Created, "/unseen")
		if len(z.lost) != 1 || z.lost[0].Zxid < seen || z.lost[0].Zxid >= unseen {
			t.Errorf("got losses %+v, want one with a zxid of %#x to below %#x", z.lost, seen, unseen)
		}
	})
}
