package locks_test

import (
	"context"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// inside is a context that owns leases, the outermost first, and does not end with them.
func inside(t *testing.T, leases ...*locks.Lease) context.Context {
	ctx := t.Context()
	for _, lease := range leases {
		ctx = context.WithoutCancel(lease.Context(ctx))
	}
	return ctx
}

func TestBothSidesAreReentrantToAnyDepth(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		rw := readWrite(newPeer(t, server))
		w1 := acquire(t, rw.WriteLock())
		w2 := acquireIn(inside(t, w1), t, rw.WriteLock())
		r1 := acquireIn(inside(t, w1, w2), t, rw.ReadLock())
		r2 := acquireIn(inside(t, w1, w2, r1), t, rw.ReadLock())
		w3 := acquireIn(inside(t, w1, w2, r1, r2), t, rw.WriteLock())
		r3 := acquireIn(inside(t, w1, w2, r1, r2, w3), t, rw.ReadLock())
		wantNodes(t, server, path, "__WRIT__", 1)
		wantNodes(t, server, path, "__READ__", 1)
		for _, lease := range []*locks.Lease{w1, r1, w3, r2} {
			release(t, lease)
		}
		wantNodes(t, server, path, "__WRIT__", 1)
		wantNodes(t, server, path, "__READ__", 1)
		release(t, w2)
		wantNodes(t, server, path, "__WRIT__", 0)
		wantNodes(t, server, path, "__READ__", 1)
		release(t, r3)
		wantNodes(t, server, path, "", 0)
	})
}

// A context asks for a lock after some of its leases were released. It is never a stranger.
func TestContextWhoseLeasesWereReleasedInPart(t *testing.T) {
	for _, test := range []struct {
		name                string
		chain               string // the outermost first: w and r; capitals are released
		wantWrite, wantRead error
	}{
		{"writer", "w", nil, nil},
		{"reader", "r", locks.ErrUpgrade, nil},
		{"released writer", "W", locks.ErrReleased, locks.ErrReleased},
		{"released reader", "R", locks.ErrReleased, locks.ErrReleased},
		{"reader in a writer", "wr", nil, nil},
		{"reader in a released writer", "Wr", locks.ErrUpgrade, nil},
		{"released reader in a writer", "wR", locks.ErrReleased, locks.ErrReleased},
		{"writer in a reader in a writer", "wrw", nil, nil},
		{"reader in a released writer in a writer", "wWr", nil, nil},
		{"reader in a writer in a released writer", "Wwr", nil, nil},
		{"released writer in a reader in a writer", "wrW", locks.ErrReleased, locks.ErrReleased},
		{"reader in a released writer in a reader in a writer", "wrWr", nil, nil},
		{"reader in released writers", "WWr", locks.ErrUpgrade, nil},
		{"reader in a released reader", "rRr", locks.ErrUpgrade, nil},
		{"writer in a released reader in a writer", "wRw", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				rw := readWrite(newPeer(t, server))
				ctx := t.Context()
				var released []*locks.Lease
				for _, step := range test.chain {
					var side locks.Lock = rw.ReadLock()
					if step|0x20 == 'w' {
						side = rw.WriteLock()
					}
					lease := acquireIn(ctx, t, side)
					ctx = context.WithoutCancel(lease.Context(ctx))
					if step < 'a' {
						released = append(released, lease)
					}
				}
				for _, lease := range released {
					release(t, lease)
				}
				settle()
				before := nodes(server, path, "__READ__")
				for _, side := range []struct {
					lock locks.Lock
					want error
				}{{rw.WriteLock(), test.wantWrite}, {rw.ReadLock(), test.wantRead}} {
					lease, err := side.lock.TryAcquire(ctx)
					if side.want == nil && err != nil {
						t.Errorf("%T: %v", side.lock, err)
					}
					if side.want != nil {
						wantErr(t, err, side.want)
					}
					if owns := side.lock.(interface{ IsOwnedBy(context.Context) bool }).IsOwnedBy(ctx); owns && side.want == locks.ErrUpgrade {
						t.Errorf("%T is owned, and refused", side.lock)
					}
					if lease != nil {
						settle()
						if after := nodes(server, path, "__READ__"); len(before) > 0 && len(after) != len(before) {
							t.Errorf("a second node was made: %v", after)
						}
						release(t, lease)
					}
				}
			})
		})
	}
}

func TestReentryOnALostLeaseIsRefusedOnBothSides(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		rw := readWrite(newPeer(t, server))
		write := acquire(t, rw.WriteLock())
		read := acquireIn(inside(t, write), t, rw.ReadLock())
		settle()
		must(t, server.Delete(path+"/"+write.NodeName()))
		settle()
		both := inside(t, write, read)
		release(t, acquireIn(both, t, rw.ReadLock())) // the reader's node is there
		_, err := rw.WriteLock().Acquire(both)
		wantErr(t, err, locks.ErrUpgrade)
		_, err = rw.ReadLock().Acquire(inside(t, write))
		wantErr(t, err, locks.ErrLeaseLost)
		must(t, server.Delete(path+"/"+read.NodeName()))
		settle()
		for _, side := range []locks.Lock{rw.ReadLock(), rw.WriteLock()} {
			_, err := side.Acquire(both)
			wantErr(t, err, locks.ErrLeaseLost, locks.ErrRemoved)
		}
	})
}
