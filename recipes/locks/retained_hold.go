package locks

import (
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// A hold is one of the grants that a residence's node has, one after the other. Each has its own members, so that
// nothing of one hold is valid in the next. The hold is the grant's Keeper, and its Binding to the node's own grant,
// the base. As a member of the base it ends in the call that reports the node's loss.
type hold struct {
	grant     queue.Grant
	residence *residence
	recipe    *recipe     // the lock that acquired it
	spent     atomic.Bool // the node must not have another hold
	left      Released    // set by Free
}

var (
	_ queue.Keeper    = (*hold)(nil)
	_ session.Binding = (*hold)(nil)
	_ queue.Member    = (*hold)(nil)
)

// newHold makes a hold for an acquire, after so many others of the node; nil if the node is lost.
func (r *residence) newHold(next *recipe, before int) *hold {
	base := r.base
	h := &hold{residence: r, recipe: next, grant: queue.Grant{
		Queue: next.queue, Node: base.Node, Name: base.Name, Session: base.Session,
		Fence: queue.Fence{Token: base.Token, Count: int64(before)},
	}}
	h.grant.Keeper = h
	if h.grant.Begin() != nil {
		return nil
	}
	return h
}

// Bind checks that the base lasts, and subscribes to its end, in one step.
func (h *hold) Bind() (session.Binding, error) { return h, h.residence.base.Join(h) }

func (h *hold) Err() error { return h.residence.base.Err() }

func (h *hold) ValidUntil() time.Time { return h.residence.base.ValidUntil() }

// Release ends the binding. The base may have ended too.
func (h *hold) Release() { _, _ = h.residence.base.Leave(h) }

// Ended is called when the base is lost.
func (h *hold) Ended() { h.grant.End(h.residence.base.Err()) }

// AskedToLeave passes on what the base was asked, also before the hold.
func (h *hold) AskedToLeave() { h.grant.AskToLeave() }

// Spend is by hold, since a late call must not spend the node of the next one.
func (h *hold) Spend() { h.spent.Store(true) }

func (h *hold) Lose(cause error) { h.residence.base.Lose(cause) }

// Listen hears of the local queue, whose contenders have no nodes.
func (h *hold) Listen(heard func()) (stop func()) { return h.residence.queue.listen(heard) }

// Free has the residence decide about the node.
func (h *hold) Free() (removal session.Removal) {
	h.left, removal = h.residence.freed(h)
	return removal
}

// Freed reports the end of the hold.
func (h *hold) Freed(err error) error { return h.recipe.released(h.left, err) }
