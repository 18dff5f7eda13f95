package locks

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/retry"
)

// With WithLocalHandover, the contenders of one client for one lock stand in a line in this process. Its front is the only one of
// them that has a node at the servers: a contender there, and then a grant. All others wait for the baton.

// A baton is what the front of a line passes on to the next one: a grant; or the right to contend at the servers, with the place
// in the queue there that somebody has left who would not wait any longer, if contender is not nil.
type baton struct {
	grant     *queue.Grant
	contender *queue.Contender
}

// A localKey is what locks must have in common to share a line: whoever is given another's node has it as if he had made it.
type localKey struct {
	id       identity
	most     int    // hand-overs in a row
	settings string // of the node, and of the contender that made it
}

// A localLine has a front as long as it is in the registry. Guarded by lines.mu.
type localLine struct {
	key     localKey
	lines   *localLines
	waiting []*waiter // behind the front, in the order in which they came
	hears   []*notice // of leases that want to hear of the next that waits
}

// localLines are the lines of a client. They hang on it, and go with it.
type localLines struct {
	mu    sync.Mutex
	byKey map[localKey]*localLine
}

type localLinesKey struct{}

func localLinesOf(client *framework.Client) *localLines {
	ls, _ := client.Attach(localLinesKey{}, func() any { return &localLines{byKey: map[localKey]*localLine{}} }).(*localLines)
	return ls
}

// enter puts a waiter at the end of its line, and says how many stand before it. If nobody does, it is the front, with nothing but
// the right to contend. One that does not wait is put nowhere if it would have to.
func (ls *localLines) enter(w *waiter, waits bool) (behind int) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	key := w.recipe.localKey()
	if l := ls.byKey[key]; l != nil {
		behind = 1 + len(l.waiting)
		if waits {
			w.line, l.waiting = l, append(l.waiting, w)
			for _, n := range l.hears {
				n.give()
			}
			l.hears = nil
		}
		return behind
	}
	w.line, w.front = &localLine{key: key, lines: ls}, true
	ls.byKey[key] = w.line
	return 0
}

// listen gives n when a waiter stands in the line.
func (l *localLine) listen(n *notice) {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	if len(l.waiting) > 0 {
		n.give()
		return
	}
	l.hears = append(l.hears, n)
}

// forget ends listen.
func (l *localLine) forget(n *notice) {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	l.hears = slices.DeleteFunc(l.hears, func(other *notice) bool { return other == n })
}

// next takes the first waiter out of the line, nil if there is none. It must be given a baton, or be put back.
func (l *localLine) next() *waiter {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
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

// NodeRemoved passes the line on when a grant that was its front has no node to hand over. It is for Grant.Keep.
func (l *localLine) NodeRemoved() { l.pass(nil) }

func (l *localLine) putBack(w *waiter) {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	l.waiting = slices.Insert(l.waiting, 0, w)
}

// pass makes the next waiter the front, with the place at the servers that c has, if any. If nobody waits, the line has ended, and c
// leaves. It is for the front, once, and does not block.
func (l *localLine) pass(c *queue.Contender) {
	l.lines.mu.Lock()
	w := l.first()
	if w == nil {
		delete(l.lines.byKey, l.key)
	}
	l.lines.mu.Unlock()
	switch {
	case w != nil:
		w.turn <- baton{contender: c}
	case c != nil:
		c.Leave()
	}
}

// remove takes a waiter out of the line, and says how many stood before it. It is not there if somebody has taken it out to give it
// the baton.
func (l *localLine) remove(w *waiter) (behind int, there bool) {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	i := slices.Index(l.waiting, w)
	if i < 0 {
		return 0, false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return 1 + i, true
}

// A waiter is one acquire in a local line. Its fields belong to the goroutine of that acquire.
type waiter struct {
	recipe    *recipe
	turn      chan baton // has room for the one that it gets
	line      *localLine // nil if it stands in none
	front     bool
	contender *queue.Contender // of the front, at the servers
}

func newWaiter(r *recipe) *waiter { return &waiter{recipe: r, turn: make(chan baton, 1)} }

// acquireLocally is acquire by way of the local line. The line is entered only when there is a session: those who come to a client
// that cannot connect find that out together, and not one after the other.
func (r *recipe) acquireLocally(ctx context.Context) (*queue.Grant, queue.Progress, error) {
	w := newWaiter(r)
	defer w.leave()
	return queue.InSessions(ctx, r.queue.Config.Source, func(session *framework.Session) (*queue.Grant, queue.Progress, error) {
		return w.contend(ctx, session)
	})
}

// tryLocally is queue.try for somebody who must not overtake the local line.
func (r *recipe) tryLocally(ctx context.Context) (*queue.Grant, queue.Progress, error) {
	w := newWaiter(r)
	defer w.leave()
	if behind := localLinesOf(w.recipe.client).enter(w, false); behind > 0 {
		return nil, queue.Progress{Ahead: behind, OwnClient: true}, ErrNotAcquired
	}
	g, at, err := r.queue.Try(ctx)
	if err == nil {
		w.holds(g)
	}
	return g, at, err
}

// contend waits for the baton, and contends at the servers if it is no grant. It may be called again, in another session, if it
// returns session.ErrNodeVanished or that the session is lost.
func (w *waiter) contend(ctx context.Context, session *framework.Session) (*queue.Grant, queue.Progress, error) {
	if w.line == nil {
		if behind := localLinesOf(w.recipe.client).enter(w, true); behind > 0 {
			g, at, err := w.wait(ctx, behind, session.Timeout())
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
func (w *waiter) wait(ctx context.Context, behind int, patience time.Duration) (*queue.Grant, queue.Progress, error) {
	at := queue.Progress{OwnClient: true, Ahead: behind, Waits: true}
	w.recipe.trace.waiting(ctx, Waiting{Path: w.recipe.path, Ahead: behind, OwnClient: true, Local: true})
	w.recipe.log.waiting(ctx, w.recipe.path, at)
	b, came := w.awaitTurn(ctx, at, patience)
	if !came {
		if behind, there := w.line.remove(w); there {
			w.line, at.Ahead = nil, behind
			return nil, at, retry.ContextError(ctx)
		}
		b = <-w.turn
	}
	g := w.take(b)
	switch {
	case g == nil:
		return nil, at, nil
	case g.Err() != nil:
		return nil, at, session.ErrNodeVanished // it was lost on the way; its end has passed the line on
	}
	at.HandOver = time.Since(g.Since)
	return g, at, nil
}

// take makes the waiter the front, or returns the grant that is the front in its place.
func (w *waiter) take(b baton) *queue.Grant {
	w.front, w.contender = b.grant == nil, b.contender
	if !w.front {
		w.line = nil
	}
	return b.grant
}

// contendAtServers is for the front. If ctx ends, it keeps its place at the servers, for leave to pass on. A place in a session that
// is over is one that is given up.
func (w *waiter) contendAtServers(ctx context.Context, s *framework.Session) (*queue.Grant, queue.Progress, error) {
	if w.contender == nil {
		c, err := w.recipe.queue.Enter(ctx, s)
		if err != nil {
			return nil, queue.Progress{}, err
		}
		w.contender = c
	}
	c := w.contender
	c.Queue = w.recipe.queue // it may have been another's
	g, at, err := c.Contend(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, at, err
	case err == nil && !w.holds(g):
		err = session.ErrNodeVanished // it was lost at once; the front contends again
	}
	w.giveUpPlace()
	return g, at, err
}

func (w *waiter) giveUpPlace() {
	w.contender.Leave()
	w.contender = nil
}

// holds makes a grant the front of the line in the waiter's place, so that the end of the grant passes the line on; but not a grant
// that has ended already.
func (w *waiter) holds(g *queue.Grant) bool {
	if !g.Keep(w.line) {
		return false
	}
	w.line = nil
	return true
}

// leave passes on whatever the waiter has and has not returned.
func (w *waiter) leave() {
	if w.line == nil {
		return
	}
	if !w.front { // the context has panicked while it waited
		if _, there := w.line.remove(w); there {
			return
		}
		if g := w.take(<-w.turn); g != nil {
			g.Drop()
			return
		}
	}
	w.line.pass(w.contender)
}
