package queue

import (
	"time"

	"github.com/gocurator/curator/framework"
)

// A grant's node may have another grant after it, in the same session: that is for a keeper to decide. From the end of
// the one grant, when its last member leaves, until the begin of the other the node stands in the queue, and no other
// contender is admitted.

// Keep has k decide what becomes of the node, unless the grant has ended already.
func (g *Grant) Keep(k Keeper) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		return false
	}
	g.keeper = k
	return true
}

// KeptBy returns the grant's keeper, nil if it has none.
func (g *Grant) KeptBy() Keeper {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.keeper
}

// MayBeKept reports whether the node may have another grant: it is there, as far as the session has heard, its holder
// was not asked to leave, nothing was made within the grant, and no check of the node was taken, which must fail after
// the hold.
func (g *Grant) MayBeKept() bool {
	if g.nested.Load() {
		return false
	}
	// What the table says: the call that ends a grant may be on its way. One that tells of a request may be, too; then
	// the next holder hears of it instead.
	if g.Session.View(g.selfWatch.Load()).Status == framework.StatusGone {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.asked && !g.used
}

// Succeed gives the node of an ended grant to a grant of its own, for an acquire by way of q, with the same keeper.
// After an error the node is still to be removed.
//
// From the moment at which the last member left, the old grant is over: it cannot be re-entered, and neither the end of
// the session nor that of the node ends it once more. So the node has one owner at any time. If the session lapses
// before the new grant is published, there is no new grant, and the caller removes the node; if it lapses after that,
// the new grant is lost, and does.
func (g *Grant) Succeed(q *Queue) (*Grant, error) {
	next, err := newGrant(&Grant{
		Queue: q, Node: g.Node, Name: g.Name, Token: g.Token, Admitted: g.Admitted, Count: g.Count + 1, keeper: g.KeptBy(),
		Session: g.Session,
	})
	if err != nil {
		return nil, err
	}
	g.unbind() // after newGrant: the two share one watch at the server, and what it has told
	return next, nil
}

// KeptFor is how long the node has been there since its first grant was given.
func (g *Grant) KeptFor() time.Duration { return time.Since(g.Admitted) }
