package queue

import (
	"github.com/gocurator/curator/framework/session"
)

// A Keeper owns the node of a grant, and may give it to another grant afterwards, so that a recipe can put several
// grants on a node in turn. A grant without a Keeper owns its node.
//
// The methods are called without a lock. None may block.
type Keeper interface {
	// Bind ties the grant to the node's validity, like framework.Session.Bind. The Keeper calls Grant.End when that
	// ends.
	Bind() (session.Binding, error)
	// Free is called after the grant's last member has left. It returns a removal if it decides to remove the node, and
	// does not block.
	Free() session.Removal
	// Freed follows Free, with the error of the removal, and returns what the caller of the release is told.
	Freed(err error) error
	// Spend says that the node must not have another grant: a transaction checks it, or a reader takes its place.
	Spend()
	// Lose ends the grant for a reason that the caller has found, and whatever else depends on the node.
	Lose(cause error)
	// Listen calls heard when a contender waits that has no node. heard only closes a channel.
	Listen(heard func()) (stop func())
}

// Spend notes that the grant's node must not become another grant's. Call Spend first. If the grant is still live when
// Spend returns, its node will not be freed until after that.
func (g *Grant) Spend() {
	if g.Keeper != nil {
		g.Keeper.Spend()
	}
}

// Lose ends a grant whose node is known to be gone.
func (g *Grant) Lose(cause error) {
	if g.Keeper != nil {
		g.Keeper.Lose(cause)
		return
	}
	g.end(cause)
	g.tidy()
}

// End ends the grant, once, when what its Keeper bound it to has ended. Detach must follow. It does not block.
func (g *Grant) End(cause error) { g.end(cause) }

// Detach takes an ended grant off its Keeper, and reports a loss. It does not block.
func (g *Grant) Detach() {
	g.unbind()
	g.tidy()
}
