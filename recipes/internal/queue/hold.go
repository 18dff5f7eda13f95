package queue

import (
	"time"

	"github.com/gocurator/curator/framework"
)

// A grant may have holds over it, one after the other: grants with its node, token and validity, but members of their
// own, so that nothing of one hold is valid in the next. Another member keeps the grant under them. A loss reaches the
// hold through that grant.

// Hold makes a hold over g for an acquire of q, unless g has ended: Join checks that and subscribes to the end in one
// step.
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

// EndHold takes an ended hold off its grant, and reports a loss, without blocking.
func (g *Grant) EndHold() {
	_, _ = g.under.leave((*localHold)(g)) // the grant may have ended too
	g.Queue.Registry.removeGrant(g)
	g.tidy()
}

// KeptHold is Hold's keptBy, if g is a hold.
func (g *Grant) KeptHold() any { return g.keptBy }

// HasHolds reports whether users are members of holds, not of the grant.
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

// Follows reports whether the node was created right after that one.
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

// MayBeKept reports whether the node may have another hold: as far as the session knows, it exists and its holder was
// not asked to leave; no read lock was taken within, and no check, which must fail after the hold.
func (g *Grant) MayBeKept() bool {
	if g.nested.Load() {
		return false
	}
	// By the table: Ended may be on its way. So may AskedToLeave, which the next holder then gets.
	if g.root().ownWatch().View().Status == framework.StatusGone {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.leaveAsked && !g.used
}

// KeptFor is the time since the node's admission.
func (g *Grant) KeptFor() time.Duration { return time.Since(g.Admitted) }
