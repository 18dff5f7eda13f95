package nodes

import (
	"context"
	"fmt"
	"math"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// found notes that the node was created, and where.
func (n *PersistentNode) found(path string, number int) {
	n.change(func() { n.actual, n.written = path, number })
}

// has notes that the node is there, with the data of a number.
func (n *PersistentNode) has(data []byte, number int) {
	n.change(func() { n.there, n.had, n.written, n.reason = true, data, max(n.written, number), nil })
}

// wait notes whose node a view shows that is not this client's.
func (n *PersistentNode) wait(view framework.View) {
	if !view.Current {
		return
	}
	owner := "outlives sessions"
	if view.Stat.EphemeralOwner != 0 {
		owner = fmt.Sprintf("belongs to session %#x", view.Stat.EphemeralOwner)
	}
	n.change(func() { n.there, n.reason, n.tried = false, fmt.Errorf("%w: it %s", ErrForeign, owner), n.wanted })
}

// lose notes that the node is gone; with err, that it is never made again, whatever data it gets.
func (n *PersistentNode) lose(err error) {
	n.change(func() {
		n.there = false
		if err != nil {
			n.reason, n.tried = err, math.MaxInt
		}
	})
}

// fail notes why the data of a number could not be written.
func (n *PersistentNode) fail(err error, number int) {
	n.change(func() { n.reason, n.tried = err, number })
}

// blocked notes why there is no session.
func (n *PersistentNode) blocked(err error) {
	n.change(func() { n.reason, n.tried = err, n.wanted })
}

// change changes the state, unless the node was closed, and makes it known.
func (n *PersistentNode) change(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	before := n.there
	change()
	if n.there != before {
		n.changes.Push(n.there)
	}
	n.wakeLocked()
}

func (n *PersistentNode) wakeLocked() {
	if n.news != nil {
		close(n.news)
		n.news = nil
	}
}

// await blocks until done, which is called with the mutex held, reports the end, or an error. The end of ctx comes with
// the reason why the node is not there.
func (n *PersistentNode) await(ctx context.Context, done func() (bool, error)) error {
	for {
		n.mu.Lock()
		finished, err := done()
		if n.closed && err == nil {
			err = ErrClosed
		}
		if n.news == nil {
			n.news = make(chan struct{})
		}
		news, reason := n.news, n.reason
		n.mu.Unlock()
		if finished || err != nil {
			return err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return session.JoinErrors(reason, retry.ContextError(ctx))
		}
	}
}
