package locks

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/retry"
)

// A baton is what the front passes on: a hold, or the right to contend at the servers (taking over contender, if set),
// or nothing if the node was lost and another acquire is the front.
type baton struct {
	grant     *queue.Grant
	contender *queue.Contender
	lost      bool
}

// A retainedWaiter is one acquire in a local queue; its goroutine has its fields.
type retainedWaiter struct {
	lock      *RetainedLock
	try       bool
	turn      chan baton     // has room for its baton
	queue     *retainedQueue // nil if in none
	front     bool
	contender *queue.Contender // the front's, at the servers
	longWait  queue.LongWait

	leaves bool // its context ended while it was out of the queue; guarded by queue.all.mu
}

// contend gets a hold, over the idle node or in the local queue. It enters that only with a session, so that all
// contenders of a client that cannot connect learn that.
func (l *RetainedLock) contend(ctx context.Context) (*queue.Grant, queue.Progress, error) {
	if g := l.takeOver(false); g != nil {
		return g, queue.Progress{}, nil
	}
	w := &retainedWaiter{lock: l, turn: make(chan baton, 1)}
	defer w.longWait.Stop()
	defer w.leave()
	return queue.AcrossSessions(ctx, l.recipe.queue.Config.Source, func(s framework.Session) (*queue.Grant, queue.Progress, error) {
		return w.contend(ctx, s)
	})
}

// contendNow is contend for a try, which must not overtake the local queue. It waits only until it is known whether
// there are other contenders.
func (l *RetainedLock) contendNow(ctx context.Context) (*queue.Grant, queue.Progress, error) {
	w := &retainedWaiter{lock: l, try: true, turn: make(chan baton, 1)}
	defer w.leave()
	for !w.front {
		ahead, g := w.enqueue()
		switch {
		case g != nil:
			return g, queue.Progress{}, nil
		case w.queue == nil:
			return nil, queue.Progress{Ahead: ahead, OwnClient: true}, ErrNotAcquired
		case w.front:
			continue
		}
		if g, err := w.awaitDecision(ctx); err != nil || g != nil {
			return g, queue.Progress{}, err
		}
	}
	if w.contender != nil { // an acquire had it, put back ahead of the try: it must not stand ahead at the servers
		w.giveUpPlace()
	}
	r := newResidence(w.queue, &l.recipe)
	base, at, err := r.baseQueue().Try(ctx)
	if err != nil {
		return nil, at, err
	}
	g := r.begin(base)
	if g == nil {
		return nil, at, l.recipe.queue.Config.Ended(base, base.Err())
	}
	w.queue = nil
	return g, at, nil
}

// awaitDecision waits for the baton of a residence that no contender holds. Without a hold or an error the try is the
// front; or it is in no queue, since the hold was lost on the way.
func (w *retainedWaiter) awaitDecision(ctx context.Context) (*queue.Grant, error) {
	var b baton
	select {
	case b = <-w.turn:
	case <-ctx.Done():
		if _, there := w.queue.remove(w); there {
			w.queue = nil
			return nil, retry.ContextError(ctx)
		}
		b = <-w.turn // as in wait
	}
	if g := w.take(b); g != nil && g.Err() == nil {
		return g, nil
	}
	return nil, nil
}

// takeOver returns a hold over the idle node, or nil if there is none.
func (l *RetainedLock) takeOver(try bool) *queue.Grant {
	if r := retainedQueuesOf(l.recipe.client).takeKept(l.key); r != nil {
		return r.admitTo(&l.recipe, try)
	}
	return nil
}

// enqueue enters the local queue, or returns a hold over the idle node.
func (w *retainedWaiter) enqueue() (ahead int, g *queue.Grant) {
	for {
		if g := w.lock.takeOver(w.try); g != nil {
			return 0, g
		}
		if ahead, ok := retainedQueuesOf(w.lock.recipe.client).enqueue(w); ok {
			return ahead, nil
		}
	}
}

// contend waits for the baton, and contends at the servers if it is no hold. It is called again in another session.
func (w *retainedWaiter) contend(ctx context.Context, s framework.Session) (*queue.Grant, queue.Progress, error) {
	var waited queue.Progress
	if w.queue == nil {
		ahead, g := w.enqueue()
		if g == nil && ahead > 0 {
			var err error
			if g, waited, err = w.wait(ctx, ahead, s.Timeout()); err != nil || g != nil {
				return g, waited, err
			}
		}
		if g != nil {
			return g, queue.Progress{}, nil
		}
	}
	g, at, err := w.contendAtServers(ctx, s)
	at.Waits, at.WaitsLong = at.Waits || waited.Waits, at.WaitsLong || waited.WaitsLong
	return g, at, err
}

// wait blocks until the waiter has the baton, or ctx is done. Without a hold or an error it is the front.
//
// If ctx ends while the baton is passed on, the goroutine that takes the waiter out of the queue decides. If that is
// the waiter's, the baton goes to the next one. Otherwise it is about to come, and must not be lost: wait returns a
// hold although ctx has ended, leave passes on the right to contend, and with neither the waiter has left.
func (w *retainedWaiter) wait(ctx context.Context, ahead int, patience time.Duration) (*queue.Grant, queue.Progress, error) {
	r := &w.lock.recipe
	at := queue.Progress{OwnClient: true, Ahead: ahead, Waits: true, Local: true}
	r.trace.waiting(ctx, Waiting{Path: r.path, Ahead: ahead, OwnClient: true, Local: true})
	r.waits.waiting(ctx, r.path, at)
	b, came := w.awaitBaton(ctx, &at, patience)
	if !came {
		if ahead, there := w.queue.remove(w); there {
			w.queue, at.Ahead = nil, ahead
			return nil, at, retry.ContextError(ctx)
		}
		b = <-w.turn
	}
	g := w.take(b)
	switch {
	case b.lost:
		return nil, at, retry.ContextError(ctx)
	case g == nil:
		return nil, at, nil
	case g.Err() != nil:
		return nil, at, session.ErrNodeDeleted // it was lost on the way; the loss passes the queue on
	}
	at.HandOver = time.Since(g.Since)
	return g, at, nil
}

// awaitBaton blocks until the baton has come or ctx is done, and logs lateness.
func (w *retainedWaiter) awaitBaton(ctx context.Context, at *queue.Progress, patience time.Duration) (b baton, came bool) {
	waiter, r := session.NewWaiter(), &w.lock.recipe
	w.longWait.Start(patience, waiter.Signal)
	defer w.longWait.Stop() // a contender at the servers goes on with it
	for {
		select {
		case b = <-w.turn:
			return b, true
		case <-waiter.News():
			if waited, late, first := w.longWait.Check(); late {
				at.WaitsLong = true
				r.waits.late(ctx, r.path, *at, waited, first)
			}
		case <-ctx.Done():
			return baton{}, false
		}
	}
}

// take unpacks a baton: it returns the hold in it, or makes the waiter the front. With neither the waiter is in no
// queue.
func (w *retainedWaiter) take(b baton) *queue.Grant {
	w.front, w.contender = b.grant == nil && !b.lost, b.contender
	if !w.front {
		w.queue = nil
	}
	return b.grant
}

// contendAtServers is for the front. If ctx ends, leave passes on its place; one in a session that is over is given up.
func (w *retainedWaiter) contendAtServers(ctx context.Context, s framework.Session) (*queue.Grant, queue.Progress, error) {
	if w.contender == nil {
		c, err := w.lock.recipe.queue.Enqueue(ctx, s)
		if err != nil {
			return nil, queue.Progress{}, err
		}
		w.contender = c
	}
	c, r := w.contender, newResidence(w.queue, &w.lock.recipe)
	c.Continue(r.baseQueue(), &w.longWait) // it may have been another's
	base, at, err := c.Contend(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, at, err
	}
	w.giveUpPlace()
	if err != nil {
		return nil, at, err
	}
	g := r.begin(base)
	if g == nil {
		return nil, at, session.ErrNodeDeleted // it was lost already; the front contends again
	}
	w.queue = nil // its place is the residence's now
	return g, at, nil
}

func (w *retainedWaiter) giveUpPlace() {
	w.contender.Leave()
	w.contender = nil
}

// leave passes on what the waiter has not returned.
func (w *retainedWaiter) leave() {
	if w.queue == nil {
		return
	}
	if !w.front { // the context has panicked while it waited
		if _, there := w.queue.remove(w); there {
			return
		}
		if g := w.take(<-w.turn); g != nil {
			w.lock.drop(g)
		}
	}
	if w.front {
		w.queue.pass(w.contender)
	}
}

// drop ends a hold that no lease was made of.
func (l *RetainedLock) drop(g *queue.Grant) {
	if lease, err := l.recipe.join(g); err == nil {
		lease.quit()
	}
}
