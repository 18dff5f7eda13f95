package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

type traceKey struct{}

// A diary is a trace that writes down its calls.
type diary struct {
	*testing.T
	mu      sync.Mutex
	entries []string
}

func (d *diary) write(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, fmt.Sprintf(format, args...))
}

func (d *diary) trace() locks.Option {
	fromStart := func(ctx context.Context) {
		if ctx.Value(traceKey{}) != d {
			d.Error("the context is not the one of AcquireStart")
		}
	}
	return locks.WithTrace(locks.Trace{
		AcquireStart: func(ctx context.Context, s locks.AcquireStart) context.Context {
			d.write("start %s", s.Path)
			return context.WithValue(ctx, traceKey{}, d)
		},
		Waiting: func(ctx context.Context, w locks.Waiting) {
			fromStart(ctx)
			if w.Path != path || w.Node == "" {
				d.Errorf("%+v", w)
			}
			d.write("waiting behind %d, own client %v", w.Ahead, w.OwnClient)
		},
		AcquireEnd: func(ctx context.Context, e locks.AcquireEnd) {
			fromStart(ctx)
			d.write("end after %v, node %v, token %v, reentered %v, error %v",
				e.Waited, e.Node != "", e.Token != 0, e.Reentered, e.Err != nil)
		},
		RevocationRequested: func(locks.RevocationRequested) { d.write("asked to leave") },
		Released:            func(r locks.Released) { d.write("released after %v, error %v", r.Held, r.Err != nil) },
		Lost: func(l locks.Lost) {
			d.write("lost after %v, is lost %v", l.Held, errors.Is(l.Err, locks.ErrLeaseLost))
		},
	})
}

func (d *diary) want(want ...string) {
	d.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.entries, want) {
		d.Errorf("the trace says\n%q, want\n%q", d.entries, want)
	}
	d.entries = nil
}

// wantAnyhow is want for what different goroutines report: a release ends with the answer to it, and by then the next
// one may have heard.
func (d *diary) wantAnyhow(want ...string) {
	d.Helper()
	synctest.Wait()
	d.mu.Lock()
	slices.Sort(d.entries)
	d.mu.Unlock()
	slices.Sort(want)
	d.want(want...)
}

const (
	started   = "start " + path
	granted   = "end after 0s, node true, token true, reentered false, error false"
	reentered = "end after 0s, node true, token true, reentered true, error false"
)

func TestTraceTellsOfAHoldFromItsBeginningToItsEnd(t *testing.T) {
	for name, lock := range map[string]func(*peer, locks.Option) locks.Lock{
		"mutex":      func(p *peer, o locks.Option) locks.Lock { return p.mutex(o) },
		"write lock": func(p *peer, o locks.Option) locks.Lock { return readWrite(p, o).WriteLock() },
		"read lock":  func(p *peer, o locks.Option) locks.Lock { return readWrite(p, o).ReadLock() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				d := &diary{T: t}
				traced := lock(newPeer(t, server), d.trace())
				lease := acquire(t, traced)
				d.want(started, granted)
				time.Sleep(time.Second)
				inner := acquireIn(lease.Context(t.Context()), t, traced)
				d.want(started, reentered)
				release(t, lease)
				d.want()
				release(t, inner)
				d.want("released after 1s, error false")
				_ = inner.Release()
				d.want()
			})
		})
	}
}

func TestTraceTellsOfWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		held := acquire(t, other.mutex())
		d := &diary{T: t}
		waiter := begin(t.Context(), t, p.mutex(d.trace()))
		d.want(started, "waiting behind 1, own client false")
		time.Sleep(time.Minute)
		release(t, held)
		lease := (<-waiter).must(t)
		d.want("end after 1m0s, node true, token true, reentered false, error false")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = p.mutex(d.trace()).Acquire(ctx)
		d.want(started, "waiting behind 1, own client true", "end after 1s, node false, token false, reentered false, error true")
		_, _ = p.mutex(d.trace()).TryAcquire(t.Context())
		d.want(started, "end after 0s, node false, token false, reentered false, error true")
		release(t, lease)
	})
}

func TestTraceTellsOfALoss(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		d := &diary{T: t}
		lease := acquire(t, p.mutex(d.trace()))
		settle()
		must(t, server.Delete(path+"/"+lease.NodeName()))
		d.want(started, granted, "lost after 1s, is lost true")
		_ = lease.Release()
		d.want()
	})
}

// A downgrade is an acquire of its own, and not a re-entry: it has a node. The writer that leaves meanwhile is reported
// once.
func TestTraceTellsOfADowngrade(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		d := &diary{T: t}
		rw := readWrite(newPeer(t, server), d.trace())
		write := acquire(t, rw.WriteLock())
		d.want(started, granted)
		goOn := server.HoldRequest(zktest.Match{Op: zktest.OpMulti})
		read := begin(inside(t, write), t, rw.ReadLock())
		d.want(started)
		release(t, write)
		d.want()
		goOn()
		lease := (<-read).must(t)
		d.want("released after 0s, error false", granted)
		release(t, lease)
		d.want("released after 0s, error false")
	})
}

// A semaphore's trace is that of the whole acquire: one start, one end, and each lease is released by itself. It waits
// at the gate, and for leases.
func TestTraceOfASemaphore(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		d := &diary{T: t}
		leases := acquireN(t, semaphore(p, 2, d.trace()), 2)
		d.want(started, granted)
		front := begin(t.Context(), t, semaphore(other, 2))
		waiter := begin(t.Context(), t, semaphore(p, 2, d.trace()))
		d.want(started, "waiting behind 1, own client false")
		release(t, leases[0])
		held := (<-front).must(t)
		// through the gate, but there is no lease
		d.wantAnyhow("released after 0s, error false", "waiting behind 1, own client false")
		release(t, leases[1])
		lease := (<-waiter).must(t)
		d.wantAnyhow("released after 0s, error false", granted)
		waiter = begin(t.Context(), t, semaphore(p, 2, d.trace()))
		d.want(started, "waiting behind 1, own client false") // one lease too many
		release(t, held)
		last := (<-waiter).must(t)
		d.want(granted)
		release(t, lease)
		release(t, last)
		d.want("released after 0s, error false", "released after 0s, error false")
	})
}
