package locks

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
)

// With WithLocalHandover, the contenders of one client for one lock stand in a line in this process. Its front is the only one of
// them that has a node at the servers: a contender there, and then a grant. All others wait for the baton.

// A baton is what the front of a line passes on to the next one: a grant; or the right to contend at the servers, with the place
// in the queue there that somebody has left who would not wait any longer, if contender is not nil.
type baton struct {
	grant     *grant
	contender *contender
}

// A localKey is what locks must have in common to share a line: whoever is given another's node has it as if he had made it.
type localKey struct {
	id       identity
	most     int    // hand-overs in a row
	settings string // of the node, and of the contender that made it
}

// A localLine has a front as long as it is in the registry. Guarded by localLines.mu.
type localLine struct {
	key     localKey
	waiting []*waiter // behind the front, in the order in which they came
}

// localLines are the lines of this process.
var localLines localRegistry

type localRegistry struct {
	mu    sync.Mutex
	byKey map[localKey]*localLine
}

// enter puts a waiter at the end of its line, and says how many stand before it. If nobody does, it is the front, with nothing but
// the right to contend. One that does not wait is put nowhere if it would have to.
func (ls *localRegistry) enter(w *waiter, waits bool) (behind int) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	key := w.queue.localKey()
	if l := ls.byKey[key]; l != nil {
		behind = 1 + len(l.waiting)
		if waits {
			w.line, l.waiting = l, append(l.waiting, w)
		}
		return behind
	}
	if ls.byKey == nil {
		ls.byKey = map[localKey]*localLine{}
	}
	w.line, w.front = &localLine{key: key}, true
	ls.byKey[key] = w.line
	return 0
}

// next takes the first waiter out of the line, nil if there is none. It must be given a baton, or be put back.
func (l *localLine) next() *waiter {
	localLines.mu.Lock()
	defer localLines.mu.Unlock()
	return l.first()
}

func (l *localLine) first() *waiter {
	if len(l.waiting) == 0 {
		return nil
	}
	w := l.waiting[0]
	l.waiting[0] = nil // the garbage collector shall not find it there
	l.waiting = l.waiting[1:]
	return w
}

func (l *localLine) putBack(w *waiter) {
	localLines.mu.Lock()
	defer localLines.mu.Unlock()
	l.waiting = slices.Insert(l.waiting, 0, w)
}

// pass makes the next waiter the front, with the place at the servers that c has, if any. If nobody waits, the line has ended, and c
// leaves. It is for the front, once, and does not block.
func (l *localLine) pass(c *contender) {
	localLines.mu.Lock()
	w := l.first()
	if w == nil {
		delete(localLines.byKey, l.key)
	}
	localLines.mu.Unlock()
	switch {
	case w != nil:
		w.turn <- baton{contender: c}
	case c != nil:
		c.leave()
	}
}

// remove takes a waiter out of the line, and says how many stood before it. It is not there if somebody has taken it out to give it
// the baton.
func (l *localLine) remove(w *waiter) (behind int, there bool) {
	localLines.mu.Lock()
	defer localLines.mu.Unlock()
	i := slices.Index(l.waiting, w)
	if i < 0 {
		return 0, false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return 1 + i, true
}

// A waiter is one acquire in a local line. Its fields belong to the goroutine of that acquire.
type waiter struct {
	queue     *queue
	turn      chan baton // has room for the one that it gets
	line      *localLine // nil if it stands in none
	front     bool
	contender *contender // of the front, at the servers
}

func newWaiter(q *queue) *waiter { return &waiter{queue: q, turn: make(chan baton, 1)} }

// acquireLocally is acquire by way of the local line. The line is entered only when there is a session: those who come to a client
// that cannot connect find that out together, and not one after the other.
func (q *queue) acquireLocally(ctx context.Context) ([]*grant, place, error) {
	w := newWaiter(q)
	defer w.leave()
	return throughSessions(ctx, q.client, func(session *framework.Session) ([]*grant, place, error) {
		g, at, err := w.contend(ctx, session)
		return []*grant{g}, at, err
	})
}

// tryLocally is tryAtServers for somebody who must not overtake the local line.
func (q *queue) tryLocally(ctx context.Context) ([]*grant, place, error) {
	w := newWaiter(q)
	defer w.leave()
	if behind := localLines.enter(w, false); behind > 0 {
		return nil, place{behind: behind, ownClient: true}, ErrNotAcquired
	}
	grants, at, err := q.tryAtServers(ctx)
	if err == nil {
		w.holds(grants[0])
	}
	return grants, at, err
}

// contend waits for the baton, and contends at the servers if it is no grant. It may be called again, in another session, if it
// returns errRequeue or that the session is lost.
func (w *waiter) contend(ctx context.Context, session *framework.Session) (*grant, place, error) {
	if w.line == nil {
		if behind := localLines.enter(w, true); behind > 0 {
			g, at, err := w.wait(ctx, behind)
			if g != nil || err != nil {
				return g, at, err
			}
		}
	}
	return w.contendAtServers(ctx, session)
}

// wait blocks until the waiter has got the baton, or ctx is done. Without a grant and without an error it is the front.
//
// If ctx ends while somebody passes the baton on, the two agree by who takes the waiter out of the line: if it is the waiter, the
// baton goes to the next one. Otherwise the baton comes at once, and the waiter takes it, so that it is never lost: a grant is
// returned to the caller, although ctx has ended; the right to contend is passed on by leave.
func (w *waiter) wait(ctx context.Context, behind int) (*grant, place, error) {
	at := place{ownClient: true, behind: behind}
	w.queue.opts.trace.waiting(ctx, Waiting{Path: w.queue.path, Behind: behind, OwnClient: true, Local: true})
	var b baton
	select {
	case b = <-w.turn:
	case <-ctx.Done():
		if behind, there := w.line.remove(w); there {
			w.line, at.behind = nil, behind
			return nil, at, context.Cause(ctx)
		}
		b = <-w.turn
	}
	g := w.take(b)
	switch {
	case g == nil:
		return nil, at, nil
	case g.err() != nil:
		return nil, at, errRequeue // it was lost on the way; its end has passed the line on
	}
	at.handOver = time.Since(g.since)
	return g, at, nil
}

// take makes the waiter the front, or returns the grant that is the front in its place.
func (w *waiter) take(b baton) *grant {
	w.front, w.contender = b.grant == nil, b.contender
	if !w.front {
		w.line = nil
	}
	return b.grant
}

// contendAtServers is for the front. If ctx ends, it keeps its place at the servers, for leave to pass on. A place in a session that
// is over is one that is given up.
func (w *waiter) contendAtServers(ctx context.Context, session *framework.Session) (*grant, place, error) {
	if w.contender == nil {
		c, err := w.queue.enter(ctx, session)
		if err != nil {
			return nil, place{}, err
		}
		w.contender = c
	}
	c := w.contender
	c.queue = w.queue // it may have been another's
	g, at, err := c.contend(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, at, err
	case err == nil && !w.holds(g):
		err = errRequeue // it was lost at once; the front contends again
	}
	w.giveUpPlace()
	return g, at, err
}

func (w *waiter) giveUpPlace() {
	w.contender.leave()
	w.contender = nil
}

// holds makes a grant the front of the line in the waiter's place, so that the end of the grant passes the line on; but not a grant
// that has ended already.
func (w *waiter) holds(g *grant) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over != nil {
		return false
	}
	g.local, w.line = w.line, nil
	return true
}

// leave passes on whatever the waiter has and has not returned.
func (w *waiter) leave() {
	if w.line == nil {
		return
	}
	if !w.front { // a callback has panicked while it waited
		if _, there := w.line.remove(w); there {
			return
		}
		if g := w.take(<-w.turn); g != nil {
			g.drop()
			return
		}
	}
	w.line.pass(w.contender)
}
