package queue

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// A Grant is an admitted contender's node, in one session.
type Grant struct {
	Fence

	Queue   *Queue
	Node    string // absolute path
	Name    string
	Session framework.Session
	Keeper  Keeper // nil: the node is the grant's own
	waited  bool   // its contender has waited, and watches the node

	selfWatch atomic.Value // a session.Watch; none before watch, and none with a Keeper

	// Guarded by Registry.mu. The grants of a lock are a list, because a map would cost each acquire an allocation.
	older, newer *Grant
	listed       bool

	// What an end needs stands together: thousands may end at a time.
	Since      time.Time
	mu         ranked.Mutex[ranked.View, Grant]
	members    []Member
	room       [1]Member // mostly members' array
	cause      error     // nil while it lasts
	endedAt    time.Time // when the grant was lost
	untidy     bool      // lost, and tidy has not run
	seen       int64     // the newest transaction that the client had seen when the last member left
	leaveAsked bool
	over       error           // made from cause by Config.Ended when first needed
	binding    session.Binding // set once
}

// A Fence orders the grants of a lock that exclude each other: by Token, then by Count.
type Fence struct {
	Token int64 // zxid of the node's creation
	Count int64 // how many grants the node had before
}

// A Member shares a grant. Its methods are called without a lock, and must not block.
type Member interface {
	// Ended reports a loss; Grant.Err says why.
	Ended()
	AskedToLeave()
}

var (
	// ErrReleased is the cause if all members have left.
	ErrReleased    = errors.New("released")
	errUnconfirmed = errors.New("no answer within the connection timeout, it goes on in the background")
)

// Begin publishes the grant if its node is valid: Bind does both in one step.
func (g *Grant) Begin() error {
	g.members = g.room[:0]
	g.Since = time.Now()
	var binding session.Binding
	var err error
	if g.Keeper != nil {
		binding, err = g.Keeper.Bind()
	} else {
		binding, err = g.Session.Bind(func(cause error) { g.end(cause) }, g.tidy)
	}
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.binding = binding
	g.mu.Unlock()
	g.Step(steps.Bound)
	g.Queue.Registry.addGrant(g)
	if g.IsOver() { // lost before it was added
		g.Queue.Registry.removeGrant(g)
	}
	if g.Keeper == nil {
		g.watch()
	}
	return nil
}

// watch hears of the node's removal by hand. It is deferred, because most holds are short. After a wait it is free.
func (g *Grant) watch() {
	var w session.Watch
	if g.waited {
		w = g.Session.WatchDataSince(g.Token, session.WatchedNode{Path: g.Node, Wake: g.ownChanged})[0]
	} else {
		w = g.Session.WatchDataDeferred(g.Node, g.ownChanged)
	}
	g.selfWatch.Store(w)
	g.ownChanged() // earlier news found no watch
	if g.IsOver() {
		w.Stop() // an earlier end found no watch
	}
}

// ownWatch is the watch on the grant's node, or nil.
func (g *Grant) ownWatch() session.Watch {
	w, _ := g.selfWatch.Load().(session.Watch)
	return w
}

func (g *Grant) ownChanged() {
	w := g.ownWatch()
	if w == nil {
		return
	}
	switch view := w.View(); {
	case view.Status == framework.StatusGone:
		// After a pause this news may precede any check of the clock, by which the lease then ended first.
		if g.Err() == nil {
			g.end(removal{lost: g.Session.NodeLost()})
		}
		g.tidy()
	case g.Queue.Config.LeaveMessage != "" && string(view.Data) == g.Queue.Config.LeaveMessage:
		g.AskToLeave()
	}
}

// AskToLeave asks all members to leave, also those that come later. It does not block.
func (g *Grant) AskToLeave() {
	g.mu.Lock()
	first, members := !g.leaveAsked, slices.Clone(g.members)
	g.leaveAsked = true
	g.mu.Unlock()
	for _, m := range members {
		m.AskedToLeave()
	}
	if first && g.Queue.Config.Asked != nil {
		g.Queue.Config.Asked(g)
	}
}

// Join adds a member, unless the grant has ended.
func (g *Grant) Join(m Member) error {
	if err := g.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	if over := g.endingLocked(); over != nil {
		g.mu.Unlock()
		return over
	}
	g.members = append(g.members, m)
	asked := g.leaveAsked
	g.mu.Unlock()
	if asked {
		m.AskedToLeave() // before the caller has it
	}
	return nil
}

// Err is nil while the grant lasts. It checks the time.
func (g *Grant) Err() error {
	g.mu.Lock()
	over, binding := g.endingLocked(), g.binding
	g.mu.Unlock()
	if over != nil {
		return over
	}
	if cause := binding.Err(); cause != nil {
		g.end(cause) // the binding's own call may be on its way; tidy follows that
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.endingLocked()
}

// endingLocked is Err without the time. It makes the error when first asked.
func (g *Grant) endingLocked() error {
	if g.over == nil && g.cause != nil {
		g.over = g.Queue.Config.Ended(g, g.cause)
	}
	return g.over
}

// IsOver reports whether the grant has ended. It does not check the time.
func (g *Grant) IsOver() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause != nil
}

// ValidUntil is when the grant ends, or ended, without another renewal.
func (g *Grant) ValidUntil() time.Time { return g.binding.ValidUntil() }

// Removed reports whether the session has heard that the node is gone. The members' Ended may still follow.
func (g *Grant) Removed() bool {
	return g.ownWatch().View().Status == framework.StatusGone
}
