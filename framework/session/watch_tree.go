package session

import (
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A TreeObserver hears what changes at and below a node. The goroutine that reads the connection calls its methods,
// which must not block.
type TreeObserver interface {
	// Watching says that the server has set the watch, after every reconnection again. Nothing reports earlier changes:
	// the observer must read everything anew, by reads sent from now on.
	Watching()
	// Changed says that a node was created or deleted, or its data set. Servers since 3.8.4 say nothing of nodes that
	// the client may not read.
	Changed(kind zk.EventType, path string)
	// Refused is the last call: the server that the session has moved to does not know such watches ([ErrUnsupported]),
	// or closes connections on them.
	Refused(err error)
}

// WatchTree reports the changes of a node, which need not exist, and of everything below it to an observer, until
// UnwatchTree or the end of the session. It does not block. All observers of a path share one watch at the server.
//
// Errors: [ErrUnsupported] if the servers are known to lack such watches, which came with 3.6; otherwise the observer's
// Refused comes later. A client's first request to a server that lacks them costs the connection: the server closes it.
func (s *Session) WatchTree(path string, o TreeObserver) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.support.Lacks(transport.FeatureTreeWatches) {
		return noTrees()
	}
	s.watches.ObserveTree(path, o)
	s.askSurely(func() { s.watches.SetTree(path, time.Now()) }, transport.WatchTree(path, nil))
	if s.needsWake(s.clock.Now()) {
		s.wakeClock()
	}
	return nil
}

func noTrees() error {
	return fmt.Errorf("%w: watches of trees came with ZooKeeper 3.6", ErrUnsupported)
}

// UnwatchTree ends WatchTree. The observer gets no call from then on, but may be in one.
func (s *Session) UnwatchTree(path string, o TreeObserver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.UnobserveTree(path, o, time.Now())
	s.askWatched()
}

// giveUpTrees ends all observations of trees if the servers lack such watches. mu is held.
func (s *Session) giveUpTrees() {
	if s.watches.HasTrees() && s.support.Lacks(transport.FeatureTreeWatches) {
		s.watches.RefuseTrees(noTrees())
	}
}
