package queue

import (
	"errors"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// How a grant ends, and on which goroutine: recipes/locks/DESIGN.md.

// Leave takes a member off the grant. After the last, the grant has ended, and the caller has its Keeper free the node,
// or removes it. It fails with the error of the grant's end, or of a release if m has left already.
func (g *Grant) Leave(m Member) (last bool, err error) {
	_ = g.Err() // ends the grant if time is up
	g.mu.Lock()
	defer g.mu.Unlock()
	if over := g.endingLocked(); over != nil {
		return false, over
	}
	i := slices.Index(g.members, m)
	if i < 0 {
		return false, g.Queue.Config.Ended(g, ErrReleased)
	}
	g.members = slices.Delete(g.members, i, i+1)
	last = len(g.members) == 0
	if last {
		g.seen = g.Session.LastZxid() // before the end: no transaction counts that came after it
		g.cause = ErrReleased
		g.Step(steps.Ended)
	}
	return last, nil
}

// SeenAtRelease is the newest transaction that the client had seen when the last member left; 0 before that.
func (g *Grant) SeenAtRelease() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen
}

// end ends the grant and calls its members' Ended, or reports false if it has ended. It does nothing else, and does not
// block: thousands of grants may have to end before another client is admitted. After a loss tidy must follow.
func (g *Grant) end(cause error) bool {
	g.mu.Lock()
	if g.cause != nil {
		g.mu.Unlock()
		return false
	}
	g.cause = cause
	g.untidy = !errors.Is(cause, ErrReleased)
	g.endedAt = time.Now()
	g.Step(steps.Ended)
	members := g.members
	g.members = nil
	g.mu.Unlock()
	for _, m := range members {
		m.Ended()
	}
	return true
}

// tidy does the rest of a loss, once: it removes the node and reports to the recipe. It does not block.
func (g *Grant) tidy() {
	g.mu.Lock()
	untidy := g.untidy
	g.untidy = false
	ended, binding := g.endedAt, g.binding
	g.mu.Unlock()
	if !untidy {
		return
	}
	if g.Keeper == nil {
		g.RemoveNode()
	}
	if g.Queue.Config.Lost != nil {
		if binding != nil { // as in unbind
			if until := binding.ValidUntil(); until.Before(ended) { // it passed before anything looked
				ended = until
			}
		}
		g.Queue.Config.Lost(g, ended, g.Err())
	}
}

// Drop ends a grant that has no member. It does not block.
func (g *Grant) Drop() {
	if g.end(ErrReleased) {
		g.RemoveNode()
	}
}

// RemoveNode asks for the removal of an ended grant's node. It does not block.
func (g *Grant) RemoveNode() session.Removal {
	g.Queue.Registry.removeNode(g.Node, g.Session.ID())
	removal := g.Session.Remove(g.Node)
	// After Remove: the deletion takes the watch with it.
	g.unbind()
	return removal
}

// AwaitRemoval waits for the answer until the connection timeout has passed since the removal was asked for
// (errUnconfirmed), or until enough is closed.
func (g *Grant) AwaitRemoval(removal session.Removal, asked time.Time, enough <-chan struct{}) error {
	timer := time.NewTimer(g.Queue.Config.Source.ConnectionTimeout() - time.Since(asked))
	defer timer.Stop()
	select {
	case <-removal.Done():
		return removal.Err()
	case <-timer.C:
		select {
		case <-removal.Done(): // an answer that is there counts
			return removal.Err()
		default:
			return errUnconfirmed
		}
	case <-enough:
		return nil
	}
}

func (g *Grant) unbind() {
	g.Queue.Registry.removeGrant(g)
	g.mu.Lock()
	binding := g.binding
	g.mu.Unlock()
	if binding != nil { // nil if the session ended within Bind
		binding.Release()
	}
	stopWatch(g.ownWatch())
}
