package queue

import (
	"time"

	"github.com/gocurator/curator/framework"
)

// A grant may have holds over it, one after the other: grants of their own with its node, token and validity, and with
// members of their own, so that nothing of one hold is valid in the next. Another member keeps the grant under them,
// and decides what becomes of the node. A loss reaches the hold by way of that grant.

// Hold makes a hold over g, for an acquire by way of q, or says what g has ended with. Join checks g and subscribes the
// hold to its end in one step. keptBy is for KeptHold.
func (g *Grant) Hold(q *Queue, count int64, keptBy any) (*Grant, error) {
	h := &Grant{
		Queue: q, Node: g.Node, Name: g.Name, Token: g.Token, Session: g.Session, Since: time.Now(), binding: g.binding,
		Admitted: g.Admitted, Count: count, under: g, keptBy: keptBy,
	}
	h.members = h.room[:0]
	if err := g.Join((*localHold)(h)); err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.hasHolds = true
	g.mu.Unlock()
	q.Registry.addGrant(h)
	if h.IsOver() { // lost before it was added
		q.Registry.removeGrant(h)
	}
	return h, nil
}

// EndHold takes an ended hold off its grant, and reports a loss to its recipe. It does not block.
func (g *Grant) EndHold() {
	_, _ = g.under.leave((*localHold)(g)) // the grant may have ended too
	g.Queue.Registry.removeGrant(g)
	g.tidy()
}

// KeptHold is what the caller of Hold gave, if g is a hold.
func (g *Grant) KeptHold() any { return g.keptBy }

// HasHolds reports whether a hold was made over the grant: its users are then members of the hold.
func (g *Grant) HasHolds() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hasHolds
}

func (g *Grant) root() *Grant {
	if g.under != nil {
		return g.under
	}
	return g
}

// lose ends a grant whose node is known to be gone.
func (g *Grant) lose(cause error) {
	root := g.root()
	root.end(cause)
	root.tidy()
}

// Follows reports whether the node was created right after the one of that name.
func (g *Grant) Follows(name string) bool {
	_, mine, ok := cutNumber(g.Name)
	_, other, known := cutNumber(name)
	return ok && known && other >= 0 && mine == other+1
}

type localHold Grant

func (h *localHold) Ended() {
	under := h.under
	under.mu.Lock()
	cause := under.cause
	under.mu.Unlock()
	(*Grant)(h).end(cause)
}

func (h *localHold) AskedToLeave() { (*Grant)(h).askToLeave() }

// MayBeKept reports whether the node may have another hold: it exists and its holder was not asked to leave, as far as
// the session knows; no read lock was taken within; and no check was taken, which must fail after the hold.
func (g *Grant) MayBeKept() bool {
	if g.nested.Load() {
		return false
	}
	// By the table: Ended may be on its way. So may AskedToLeave, which the next holder gets then.
	if g.Session.View(g.root().selfWatch.Load()).Status == framework.StatusGone {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.leaveAsked && !g.used
}

// KeptFor is how long ago the node was admitted.
func (g *Grant) KeptFor() time.Duration { return time.Since(g.Admitted) }
