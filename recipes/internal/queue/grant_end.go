package queue

import (
	"errors"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
)

// A grant ends in one place, end(cause), or with its last member, Leave. Its node is removed after that, by RemoveNode.

// Leave takes a member off the grant, and reports whether it was the last one: the grant has ended then, and its node
// is to be removed; that of a hold may be kept, see hold.go. Errors: what the grant has ended with; what a release ends
// it with, if m has left already.
func (g *Grant) Leave(m Holder) (last bool, err error) {
	_ = g.Err() // ends the grant if its time is up
	g.mu.Lock()
	defer g.mu.Unlock()
	if over := g.ending(); over != nil {
		return false, over
	}
	i := slices.Index(g.members, m)
	if i < 0 {
		return false, g.Queue.Config.Ended(g, ErrReleased)
	}
	g.members = slices.Delete(g.members, i, i+1)
	last = len(g.members) == 0
	if last {
		g.cause = ErrReleased
	}
	return last, nil
}

// end ends the grant for cause, unless it has ended, and tells its members; and does nothing else: there may be
// thousands of others that wait for their end, and another client may be let in at any moment. Unless cause is
// ErrReleased, tidy must be called after it. It reports whether the grant had not ended before, and does not block.
func (g *Grant) end(cause error) bool {
	g.mu.Lock()
	if g.cause != nil {
		g.mu.Unlock()
		return false
	}
	g.cause = cause
	g.untidy = !errors.Is(cause, ErrReleased)
	g.lasted = time.Since(g.Since)
	members := g.members
	g.members = nil
	g.mu.Unlock()
	for _, m := range members {
		m.Ended()
	}
	return true
}

// tidy does, once, what is to be done about a grant that was lost: its node is removed if the session outlives it, and
// the recipe hears of it. It does nothing about a grant that ended otherwise. It does not block.
func (g *Grant) tidy() {
	g.mu.Lock()
	untidy := g.untidy
	g.untidy = false
	lasted := g.lasted
	g.mu.Unlock()
	if !untidy {
		return
	}
	if g.under == nil {
		g.RemoveNode()
	}
	if g.Queue.Config.Lost != nil {
		g.Queue.Config.Lost(g, lasted, g.Err())
	}
}

// Drop ends a grant that has no member. It does not block.
func (g *Grant) Drop() {
	if g.end(ErrReleased) {
		g.RemoveNode()
	}
}

// RemoveNode ends what an ended grant has with the session, and asks for the removal of its node. It does not block.
func (g *Grant) RemoveNode() *framework.Removal {
	g.Queue.Registry.removeNode(g.Node)
	removal := g.Session.Remove(g.Node)
	// After Remove: the watch on a node that is leaving need not be taken off.
	g.unbind()
	return removal
}

// RemoveNodeWithin is RemoveNode, and waits for the server's answer as long as operations wait for a connection, or
// until enough is closed. Errors: errUnconfirmed, unless enough was closed; why the server refuses the removal.
func (g *Grant) RemoveNodeWithin(enough <-chan struct{}) error {
	return g.AwaitRemoval(g.RemoveNode(), enough)
}

// AwaitRemoval is the waiting of RemoveNodeWithin.
func (g *Grant) AwaitRemoval(removal *framework.Removal, enough <-chan struct{}) error {
	timer := time.NewTimer(g.Queue.Config.Source.ConnectionTimeout())
	defer timer.Stop()
	select {
	case <-removal.Done():
		return removal.Err()
	case <-timer.C:
		return errUnconfirmed
	case <-enough:
		return nil
	}
}

// unbind ends what a grant has with the session, but for its node.
func (g *Grant) unbind() {
	g.Queue.Registry.removeGrant(g)
	g.mu.Lock()
	hold := g.hold
	g.mu.Unlock()
	if hold != nil { // nil if the session ended within Session.Bind
		hold.Release()
	}
	if w := g.selfWatch.Load(); w != nil {
		g.Session.Unwatch(w)
	}
}
