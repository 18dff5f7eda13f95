package queue

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
)

// A Grant is what an admitted contender has: a node, in one session. It ends with the last of its members, or is lost.
type Grant struct {
	Queue   *Queue
	Node    string // absolute path
	Name    string // of the node
	Token   int64
	Session *framework.Session

	selfWatch atomic.Pointer[framework.Watch] // on the node

	Admitted time.Time   // when the node was
	Count    int64       // of the holds that the node had before
	nested   atomic.Bool // a read lock was taken within it

	// Of a hold, see hold.go.
	under  *Grant // that has the node; nil of a grant that is no hold
	keptBy any    // what the caller of Hold gave

	// What the end of a grant needs stands together: the end of thousands is a matter of reading memory.

	Since      time.Time
	mu         sync.Mutex
	members    []Member           // that have not left
	room       [1]Member          // for members: mostly one
	cause      error              // of the grant's end; nil while it lasts
	lasted     time.Duration      // until the loss
	untidy     bool               // lost, and tidy has still to be called
	leaveAsked bool               // the holders were asked to leave
	used       bool               // a check of the node was taken
	hasHolds   bool               // a hold was made over it
	over       error              // cause, as Config.Ended has it, once it was asked for
	binding    *framework.Binding // set once: by newGrant, or with the hold
}

// A Member is one of those who share a grant. Its methods are called without a lock, and must not block.
type Member interface {
	// Ended reports a loss; Grant.Err says why.
	Ended()
	AskedToLeave()
}

var (
	// ErrReleased is the cause of a grant's end that all members have left.
	ErrReleased    = errors.New("released")
	errUnconfirmed = errors.New("no answer within the connection timeout, it goes on in the background")
)

// newGrant publishes a grant if the session is valid at this moment: Session.Bind does both in one step.
func newGrant(g *Grant) (*Grant, error) {
	g.members = g.room[:0]
	g.Since = time.Now()
	g.Admitted = g.Since
	binding, err := g.Session.Bind(func(cause error) { g.end(cause) }, g.tidy)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.binding = binding
	g.mu.Unlock()
	g.Queue.Registry.addGrant(g)
	if g.IsOver() { // lost before it was added
		g.Queue.Registry.removeGrant(g)
	}
	g.watch()
	return g, nil
}

// watch ends the grant when its node is removed by hand: after a moment, since most holds are short.
func (g *Grant) watch() {
	w := g.Session.WatchDataDeferred(g.Node, g.ownChanged)
	g.selfWatch.Store(w)
	g.ownChanged() // what came before the line above found no watch
	if g.IsOver() {
		g.Session.Unwatch(w) // an end before it left the watch behind
	}
}

// ownChanged handles news about the grant's node. It does not block.
func (g *Grant) ownChanged() {
	w := g.selfWatch.Load()
	if w == nil {
		return
	}
	switch view := g.Session.View(w); {
	case view.Status == framework.StatusGone:
		g.end(ErrRemoved)
		g.tidy()
	case g.Queue.Config.LeaveMessage != "" && string(view.Data) == g.Queue.Config.LeaveMessage:
		g.askToLeave()
	}
}

func (g *Grant) askToLeave() {
	g.mu.Lock()
	first := !g.leaveAsked
	g.leaveAsked = true
	members := slices.Clone(g.members)
	g.mu.Unlock()
	for _, m := range members {
		m.AskedToLeave()
	}
	if first && g.Queue.Config.Asked != nil {
		g.Queue.Config.Asked(g)
	}
}

// Join adds a member, or says what the grant ended with.
func (g *Grant) Join(m Member) error {
	if err := g.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	if over := g.ending(); over != nil {
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

// Err is nil while the grant lasts. It compares the time.
func (g *Grant) Err() error {
	g.mu.Lock()
	over := g.ending()
	binding := g.binding
	g.mu.Unlock()
	if over != nil {
		return over
	}
	if cause := binding.Err(); cause != nil {
		g.end(cause) // Bind's own call may still be on its way on another goroutine; tidy comes after it
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ending()
}

// ending is what the grant ended with, nil while it lasts; mu is held. It is made late: the end of thousands of grants
// makes no errors.
func (g *Grant) ending() error {
	if g.over == nil && g.cause != nil {
		g.over = g.Queue.Config.Ended(g, g.cause)
	}
	return g.over
}

// errOr returns what the grant ended with, or else err.
func (g *Grant) errOr(err error) error {
	if over := g.Err(); over != nil {
		return over
	}
	return err
}

// IsOver reports whether end was called. It does not compare the time.
func (g *Grant) IsOver() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause != nil
}

// ValidUntil is when the grant ends without another renewal, or when its session ceased to be valid.
func (g *Grant) ValidUntil() time.Time { return g.binding.ValidUntil() }

// UseNode notes a check of the node, or says what the grant ended with, in one step: an end that comes later finds that
// the node must not have another hold.
func (g *Grant) UseNode() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause == nil {
		g.used = true
	}
	return g.ending()
}
