package lead

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/recipes/leader"
)

// unreadablePause comes before the next look at a leader whose node this client may not read.
const unreadablePause = time.Second

// revokeMessage replaces the name in the node of a leader that was asked to leave. Observe yields each leader once, so
// only electors that came later see it.
const revokeMessage = "__REVOKE__"

// observe learns who leads, until ctx ends or an error other than zk.ErrNoAuth. A participant whose node has an ACL for
// its creator alone leads without a name here. Run fails by itself if it may not list the nodes.
func (e *Elector) observe(ctx context.Context) error {
	for ctx.Err() == nil {
		for seen, err := range e.selector.Observe(ctx) {
			if errors.Is(err, zk.ErrNoAuth) {
				e.see(leader.Participant{})
				break
			}
			if err != nil {
				return err
			}
			e.see(seen)
		}
		select {
		case <-ctx.Done():
		case <-time.After(unreadablePause):
		}
	}
	return nil
}

// see is called with each leader that the servers name.
func (e *Elector) see(seen leader.Participant) {
	if seen.ID == revokeMessage {
		seen.ID = ""
	}
	e.mu.Lock()
	e.seen, e.seenAt = seen, time.Now()
	e.mu.Unlock()
	if seen.ID != e.options.Name && seen.Path != "" { // this one is about to stand where there is none
		e.reports.add(Event{Event: Sees, Name: seen.ID, Token: seen.Token})
	}
}
