package nodes

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// content is what the node is to have.
type content struct {
	data   []byte // not changed
	number int    // how often data had been set
}

// A state is what is known of the node.
type state struct {
	path     string // with GUID and number; "" while they are not known
	there    bool
	begun    bool    // it was there: Start does not fail any more
	failed   bool    // Start fails: the node is not kept any more
	reason   error   // why it is not there, or lacks its data
	lost     error   // why it went last; nil if it never did
	tried    int     // number of the data that reason is about; without a reason, that the node had last
	had      content // what the node had last; before there was one, the constructor's data
	tooLarge int     // number of the data that were taken back, since no node can have them; 0 for none
	excess   error   // what says so
}

// goes notes that the node is not there, the reason, and what ended it if it was: what comes later did not. Close has
// no cause.
func (s *state) goes(cause, reason error) {
	if cause != nil && s.there {
		s.lost = cause
	}
	s.there, s.reason = false, reason
}

// comes notes that the node is there, with this content.
func (s *state) comes(with content) {
	s.there, s.begun = true, true
	s.reason, s.tried, s.had = nil, with.number, with
}

// change changes the state, unless the node was closed, and makes it known.
func (n *PersistentNode) change(change func(s *state)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	before := n.state.there
	change(&n.state)
	if n.state.there != before {
		n.changes.Push(n.state.there)
	}
	close(n.news)
	n.news = make(chan struct{})
	n.noteLocked()
}

// noteLocked logs why the node is not there, or lacks its data; unless Start returns that.
func (n *PersistentNode) noteLocked() {
	if reason := n.state.reason; n.closed || n.keeper == nil {
		n.trouble.Over()
	} else if n.state.begun && reason != nil || errors.Is(reason, ErrForeign) {
		n.trouble.Note(n.client.Logger(), "nodes: the node is not kept", n.path, reason)
	}
}

// settled notes that nothing is left to be done about the node.
func (n *PersistentNode) settled() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state.there && n.state.reason == nil {
		n.trouble.Over()
	}
}

// fails decides whether Start fails, once and for all: it does not if the node was kept meanwhile.
func (n *PersistentNode) fails() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state.failed = !n.state.begun
	return n.state.failed
}

// await blocks until the node is there with the data of a number, or newer ones. The end of ctx comes with the reason
// why it is not.
func (n *PersistentNode) await(ctx context.Context, k *keeper, number int) error {
	for {
		n.mu.Lock()
		state, news, closed, current := n.state, n.news, n.closed, n.keeper == k
		n.mu.Unlock()
		switch {
		case closed:
			return ErrClosed
		case !current: // Start has failed meanwhile
			return ErrNotStarted
		case number > 0 && number <= state.tooLarge:
			return state.excess
		case number > 0 && number <= state.had.number: // whatever went wrong later
			return nil
		case state.tried < number || errors.Is(state.reason, ErrForeign):
		case state.reason != nil || state.there:
			return state.reason
		}
		select {
		case <-news:
		case <-ctx.Done():
			return session.JoinErrors(state.reason, retry.ContextError(ctx))
		}
	}
}
