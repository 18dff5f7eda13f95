package locks

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
)

// A grant is what an admitted contender has: a node at the servers, in one session. One or more leases share it; the node goes
// with the last of them.
type grant struct {
	id      identity
	path    string // of the lock, as the user gave it
	node    string // absolute path
	name    string // of the node
	shared  bool   // a reader's
	token   int64
	session *framework.Session
	client  *framework.Client
	trace   *Trace
	since   time.Time
	hold    *framework.Hold

	own atomic.Pointer[framework.Watch] // on the node

	admitted time.Time   // when the node's first grant was given
	count    int64       // of the grants that the node had before
	nested   atomic.Bool // the read lock has been taken within it

	mu     sync.Mutex
	local  *localLine          // whose front it is; nil without WithLocalHandover
	leases map[*Lease]struct{} // not released
	asked  bool                // to leave
	over   error               // nil; a *LostError; or ErrReleased
}

// newGrant publishes a grant if the session is valid at this moment; the check and the publication are one step, taken by
// Session.Hold.
func newGrant(g *grant) (*grant, error) {
	g.leases = map[*Lease]struct{}{}
	g.since = time.Now()
	if g.count == 0 {
		g.admitted = g.since
	}
	hold, err := g.session.Hold(g.lose)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.hold = hold
	g.mu.Unlock()
	held.add(g)
	if g.ended() { // lost before it was added
		held.remove(g)
	}
	return g, nil
}

// watch lets the grant end when its node is removed by hand. Most holds are short, so the server is asked to watch only those
// that have lasted for a moment.
func (g *grant) watch() {
	w := g.session.WatchDataSoon(g.node, g.ownChanged)
	g.own.Store(w)
	g.ownChanged() // what came before the line above was nobody's
	if g.ended() {
		g.session.Unwatch(w) // and an end before it left the watch behind
	}
}

// ownChanged is called when there is something new about the grant's node. It does not block.
func (g *grant) ownChanged() {
	w := g.own.Load()
	if w == nil {
		return
	}
	switch view := g.session.View(w); {
	case view.Status == framework.StatusGone:
		g.lose(ErrRemoved)
	case string(view.Data) == revokeMessage:
		g.request()
	}
}

// join adds a lease, or says what the grant ended with.
func (g *grant) join() (*Lease, error) {
	if err := g.err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over != nil {
		return nil, g.over
	}
	l := newLease(g)
	g.leases[l] = struct{}{}
	if g.asked {
		l.request() // before the caller has it: nobody waits for its lock
	}
	return l, nil
}

// err is nil while the grant lasts. It compares the time.
func (g *grant) err() error {
	g.mu.Lock()
	over := g.over
	hold := g.hold
	g.mu.Unlock()
	if over != nil {
		return over
	}
	if cause := hold.Err(); cause != nil {
		g.lose(cause) // Hold's own call may still be on its way on another goroutine
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.over
}

// ended reports whether the grant is over, without a look at the time: if that is up, lose is still to come.
func (g *grant) ended() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.over != nil
}

// errOr returns what the grant ended with, or else err.
func (g *grant) errOr(err error) error {
	if over := g.err(); over != nil {
		return over
	}
	return err
}

// lose ends the grant and all its leases without their release. It does not block. The node is removed if the session outlives
// the grant.
func (g *grant) lose(reason error) {
	lost := &LostError{Path: g.path, Session: g.session.ID(), Reason: reason}
	g.mu.Lock()
	if g.over != nil {
		g.mu.Unlock()
		return
	}
	g.over = lost
	leases := g.leases
	g.leases = nil
	g.mu.Unlock()
	for l := range leases {
		l.end(lost)
	}
	g.withdraw()
	g.trace.lost(Lost{Path: g.path, Node: g.name, Held: time.Since(g.since), Err: lost})
}

// drop ends a grant that nobody has got a lease of. It does not block.
func (g *grant) drop() {
	g.mu.Lock()
	if g.over != nil {
		g.mu.Unlock()
		return
	}
	g.over = ErrReleased
	g.mu.Unlock()
	g.withdraw()
}

// withdraw ends what a grant has with the session, and asks for the removal of its node.
func (g *grant) withdraw() *framework.Removal {
	own.remove(g.node)
	removal := g.session.Remove(g.node)
	// After Remove: the watch on a node that is leaving need not be taken off.
	g.detach()
	if line := g.frontOf(); line != nil {
		line.pass(nil)
	}
	return removal
}

// detach ends what a grant has with the session, but for its node.
func (g *grant) detach() {
	held.remove(g)
	if hold := g.holding(); hold != nil { // nil if the session ended within Session.Hold
		hold.Release()
	}
	if w := g.own.Load(); w != nil {
		g.session.Unwatch(w)
	}
}

// leave takes a lease off the grant. With the last one the grant ends, for this process at once; it waits for the server's
// answer to the removal of the node.
func (g *grant) leave(l *Lease) error {
	last, err := g.take(l)
	if err != nil || !last {
		return err
	}
	if g.handOver() {
		g.trace.released(Released{Path: g.path, Node: g.name, Held: time.Since(g.since), HandedOver: true})
		return nil
	}
	err = g.removeNode()
	g.trace.released(Released{Path: g.path, Node: g.name, Held: time.Since(g.since), Err: err})
	return err
}

// take takes a lease off the grant, and reports whether it was the last one: the node is then to be removed.
func (g *grant) take(l *Lease) (last bool, err error) {
	if err := g.err(); errors.Is(err, ErrLeaseLost) {
		return false, err
	}
	g.mu.Lock()
	if g.over != nil {
		defer g.mu.Unlock()
		return false, g.over
	}
	if _, there := g.leases[l]; !there {
		g.mu.Unlock()
		return false, ErrReleased
	}
	delete(g.leases, l)
	last = len(g.leases) == 0
	if last {
		g.over = ErrReleased
	}
	g.mu.Unlock()
	l.end(ErrReleased)
	return last, nil
}

// quit is Release without waiting for the server: for a lease that nobody but this package has. There is nobody to hear of
// errors: either it is not the last one, or its owner has had its answer and the removal goes on without him.
func (l *Lease) quit() {
	g := l.grant
	if last, _ := g.take(l); last {
		g.withdraw()
		g.trace.released(Released{Path: g.path, Node: g.name, Held: time.Since(g.since)})
	}
}

// removeNode removes the node for sure, and waits for it as long as operations wait for a connection.
func (g *grant) removeNode() error {
	removal := g.withdraw()
	timer := time.NewTimer(g.client.ConnectionTimeout())
	defer timer.Stop()
	err := errUnconfirmed
	select {
	case <-removal.Done():
		err = removal.Err()
	case <-timer.C:
	}
	if err != nil {
		return &ReleaseError{Path: g.path, Node: g.name, Err: err}
	}
	return nil
}

func (g *grant) holding() *framework.Hold {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hold
}
