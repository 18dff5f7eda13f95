package lockstest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func exclusion() []law {
	return []law{
		{name: "G1 exclusion/many clients", run: manyClientsNeverTooMany},
		{name: "G1 exclusion/many goroutines of one client", run: manyGoroutinesNeverTooMany},
		{name: "G1 exclusion/two clients", run: theSecondWaitsForTheFirst},
		{name: "G1 exclusion/a waiter in the middle dies", run: whoStoodBehindTheDeadWaitsForTheHolder},
		{name: "G1 exclusion/a waiter in the middle gives up", run: whoStoodBehindTheQuitterWaitsForTheHolder},
		{name: "G1 exclusion/the holder's connection breaks", run: aBrokenConnectionLetsNobodyIn},
		{name: "G1 exclusion/the holder dies", run: theHoldersExpiryLetsTheNextIn},
		{name: "G1 exclusion/TryAcquire", run: tryAcquireTakesOnlyWhatIsFree},
	}
}

// A room counts the leases of those who are inside, and says when there are too many.
//
// On a busy machine a lease can end before its goroutine runs again: the server lets the next contender in, and that
// one may run first. It meets a guest whose lease has ended, which is no fault.
type room struct {
	capacity int // 0 means any number

	mu          sync.Mutex
	inside      map[*locks.Lease]bool // whether the lease is a rival's
	most, total int
	wrong       bool
}

func (r *room) enter(lease *locks.Lease, rival bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inside == nil {
		r.inside = map[*locks.Lease]bool{}
	}
	r.inside[lease] = rival
	r.total++
	r.countLocked()
}

func (r *room) leave(lease *locks.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.countLocked() // a lease that was over when another entered must not have come back
	delete(r.inside, lease)
}

// countLocked counts the leases that last.
func (r *room) countLocked() {
	var guests, rivals int
	for lease, rival := range r.inside {
		switch {
		case lease.Err() != nil:
		case rival:
			rivals++
		default:
			guests++
		}
	}
	r.most = max(r.most, guests)
	r.wrong = r.wrong || rivals > 1 || rivals == 1 && guests > 0 || r.capacity > 0 && guests > r.capacity
}

// visit acquires, stays for a moment, and releases, some times.
func (r *room) visit(t testing.TB, c *contact, times int, stay func()) {
	hasRival := c.w.recipe.Rival != nil
	for i := range times {
		rival := hasRival && i%3 == 0
		lock := c.lock()
		if rival {
			lock = c.rival()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*c.w.server.SessionTimeout())
		lease, err := lock.Acquire(ctx)
		cancel()
		if err != nil {
			t.Error(err)
			return
		}
		r.enter(lease, rival)
		stay()
		r.leave(lease)
		err = lease.Release()
		busy := !c.w.exact && errors.Is(err, locks.ErrLeaseLost) // a busy machine loses leases
		if err != nil && !busy {
			t.Error(err)
		}
	}
}

func (r *room) check(t testing.TB, total int) {
	t.Helper()
	if r.wrong {
		violated(t)
		t.Errorf("too many held the lock at once; capacity %d, at most %d", r.capacity, r.most)
	}
	if r.total != total {
		t.Errorf("it was acquired %d times, want %d", r.total, total)
	}
}

func manyClientsNeverTooMany(t testing.TB, w *world) {
	const clients, times = 8, 6
	r := &room{capacity: w.recipe.Capacity}
	var wg sync.WaitGroup
	for _, c := range w.clients(clients) {
		wg.Go(func() { r.visit(t, c, times, func() { w.pass(w.server.SessionTimeout() / 200) }) })
	}
	wg.Wait()
	r.check(t, clients*times)
	if r.capacity == 1 {
		return
	}
	if w.exact && r.most < 2 {
		t.Errorf("got at most %d holders at a time, want the lock shared", r.most)
	}
	// In real time it is likely that they met above, but no more than that.
	for _, c := range w.clients(2) {
		lease := c.start(c.lock()).get()
		defer func() {
			if err := lease.Release(); err != nil {
				t.Error(err)
			}
		}()
	}
}

func manyGoroutinesNeverTooMany(t testing.TB, w *world) {
	const goroutines, times = 16, 3
	r := &room{capacity: w.recipe.Capacity}
	c := w.client()
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() { r.visit(t, c, times, func() { w.pass(w.server.SessionTimeout() / 200) }) })
	}
	wg.Wait()
	r.check(t, goroutines*times)
}

func theSecondWaitsForTheFirst(t testing.TB, w *world) {
	held := w.client().fill()
	second := w.client().queue()
	second.isWaiting()
	held.release(t)
	if err := second.get().Release(); err != nil {
		t.Error(err)
	}
}

// A node that is watched goes, but the lock is not free: a waiter that is woken must look, not believe.
func whoStoodBehindTheDeadWaitsForTheHolder(t testing.TB, w *world) {
	whoStoodBehindWaits(t, w, func(middle *contact, _ *attempt, node string) {
		middle.link.Cut()
		w.record.ExpireSession(middle.link, middle.sessionOf(t, w, node))
	})
}

func whoStoodBehindTheQuitterWaitsForTheHolder(t testing.TB, w *world) {
	whoStoodBehindWaits(t, w, func(_ *contact, quitter *attempt, _ string) {
		quitter.cancel()
		quitter.returned()
	})
}

// whoStoodBehindWaits has the first of three waiters end. One of the others watches it, and has to look who else is
// there.
func whoStoodBehindWaits(t testing.TB, w *world, end func(first *contact, itself *attempt, node string)) {
	holder, first := w.client(), w.client()
	held := holder.fill()
	before := w.nodes()
	a := first.queue()
	node := w.added(before)[0]
	line := []*attempt{w.client().queue(), w.client().queue()}
	end(first, a, node)
	if w.recipe.standsBehindWaiters() {
		w.until("one of them waits again", func() bool { return len(line[0].waiting)+len(line[1].waiting) > 0 })
	}
	for _, waiter := range line {
		waiter.isWaiting()
	}
	held.release(t)
	for _, waiter := range line {
		if err := waiter.get().Release(); err != nil {
			t.Error(err)
		}
	}
}

// sessionOf is the session that owns a node.
func (*contact) sessionOf(t testing.TB, w *world, node string) int64 {
	t.Helper()
	if stat := w.server.Stat(node); stat != nil {
		return stat.EphemeralOwner
	}
	t.Fatalf("%s is not there", node)
	return 0
}

// standsBehindWaiters says whether a waiter watches a waiter before it. A reader does not watch readers.
func (r Recipe) standsBehindWaiters() bool { return r.Capacity == 1 }

func aBrokenConnectionLetsNobodyIn(t testing.TB, w *world) {
	w.tries(func() bool {
		holder := w.client()
		held := holder.fill()
		waiter := w.client().queue()
		for range 3 {
			holder.link.Reset()
			w.pass(w.server.SessionTimeout() / 4)
		}
		holder.link.Cut()
		w.pass(w.server.SessionTimeout() / 4)
		holder.link.Heal()
		waits := !waiter.hasReturned() // before the lease: a loss after this look lets no waiter in before it
		err := held.lost()
		if err == nil && !waits {
			t.Errorf("it should still wait, got %v, %v", waiter.lease, waiter.err)
		}
		for _, lease := range held {
			err = errors.Join(err, lease.Release()) // it can also be lost after the look
		}
		lease := waiter.get()
		if !w.exact && (errors.Is(err, framework.ErrNotRenewed) || errors.Is(err, framework.ErrSessionLost)) {
			_ = lease.Release()
			return false // the outages were too long for the lease
		}
		if err != nil {
			t.Error(err)
		}
		return true
	})
}

func theHoldersExpiryLetsTheNextIn(t testing.TB, w *world) {
	holder := w.client()
	held := holder.fill()
	waiter := w.client().queue()
	begun := time.Now()
	holder.link.Cut()
	waiter.get()
	w.soon("the admission of the next", waiter.at.Sub(begun), w.server.SessionTimeout()*3/2)
	for _, lease := range held {
		if err := lease.Err(); err == nil {
			t.Error("got a lease that lasts beside the next, want it ended")
		}
	}
}

func tryAcquireTakesOnlyWhatIsFree(t testing.TB, w *world) {
	held := w.client().fill()
	other := w.client()
	before := w.nodes()
	if lease, err := other.lock().TryAcquire(t.Context()); !isNotAcquired(err) {
		t.Fatalf("TryAcquire of a taken lock: %v, %v", lease, err)
	}
	if now := w.added(before); len(now) > 0 {
		t.Errorf("it left %v", now)
	}
	held.release(t)
	lease, err := other.lock().TryAcquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}
