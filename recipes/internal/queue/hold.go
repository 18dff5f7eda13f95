package queue

import (
	"time"

	"github.com/gocurator/curator/framework"
)

// A grant may have holds over it, one after the other: grants of their own with its node, its token and its validity.
// Each has its own holders, and is over with the last of them, so that nobody who had one hold is let into the next. The
// grant under them lasts as long as it has a member of another kind, the one that decides what becomes of the node. What
// happens to the node or the session happens to that grant, and by way of it to the hold that lasts.

// Hold makes a hold over g, for an acquire by way of q, or says what g has ended with. keptBy is for KeptHold.
//
// That g lasts and that the hold is told of its end are one step: Join.
func (g *Grant) Hold(q *Queue, count int64, keptBy any) (*Grant, error) {
	h := &Grant{
		Queue: q, Node: g.Node, Name: g.Name, Token: g.Token, Session: g.Session, Since: time.Now(), hold: g.hold,
		Admitted: g.Admitted, Count: count, under: g, keptBy: keptBy,
	}
	h.members = h.room[:0]
	if err := g.Join((*localHold)(h)); err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.holds = true
	g.mu.Unlock()
	q.Registry.addGrant(h)
	if h.isOver() { // lost before it was added
		q.Registry.removeGrant(h)
	}
	return h, nil
}

// EndHold takes a hold that has ended off the grant under it, and has its recipe hear of a loss. It does not block.
func (g *Grant) EndHold() {
	_, _ = g.under.Leave((*localHold)(g)) // that has ended, too, if g was lost
	g.Queue.Registry.removeGrant(g)
	g.tidy()
}

// KeptHold is what the caller of Hold gave; nil of a grant that is no hold.
func (g *Grant) KeptHold() any { return g.keptBy }

// HasHolds reports whether the grant's holders are those of the holds over it, if there is one now.
func (g *Grant) HasHolds() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.holds
}

// root is the grant that has the node.
func (g *Grant) root() *Grant {
	if g.under != nil {
		return g.under
	}
	return g
}

// lose ends a grant whose node is known to be gone, and has that tidied up.
func (g *Grant) lose(cause error) {
	root := g.root()
	root.end(cause)
	root.tidy()
}

// Follows reports whether the grant's node was created right after the one of that name, with no other in between.
func (g *Grant) Follows(name string) bool {
	_, mine, ok := cutNumber(g.Name)
	_, other, known := cutNumber(name)
	return ok && known && other >= 0 && mine == other+1
}

// A localHold is a hold as the grant under it sees it: a member.
type localHold Grant

// Ended ends the hold with what the grant under it ended with.
func (h *localHold) Ended() {
	under := h.under
	under.mu.Lock()
	cause := under.cause
	under.mu.Unlock()
	(*Grant)(h).end(cause)
}

func (h *localHold) AskedToLeave() { (*Grant)(h).askToLeave() }

// MayBeKept reports whether the node may have another grant: it is there, as far as the session has heard, its holder
// was not asked to leave, nothing was made within the grant, and no check of the node was taken, which must fail after
// the hold.
func (g *Grant) MayBeKept() bool {
	if g.nested.Load() {
		return false
	}
	// What the table says: the call that ends a grant may be on its way. One that tells of a request may be, too; then
	// the next holder hears of it instead.
	if g.Session.View(g.root().selfWatch.Load()).Status == framework.StatusGone {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.asked && !g.used
}

// KeptFor is how long ago the node was admitted.
func (g *Grant) KeptFor() time.Duration { return time.Since(g.Admitted) }
