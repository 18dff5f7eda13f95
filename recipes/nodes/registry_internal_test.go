package nodes

import (
	"errors"
	"sync"
	"testing"
)

func TestARegistryRemembersTheNewestSessions(t *testing.T) {
	var r registry
	const sessions = 10 * mostSessions
	for id := range int64(sessions) {
		if r.add(id); !r.had(id) {
			t.Fatalf("session %d was forgotten as soon as it was added", id)
		}
	}
	for id := range int64(sessions) {
		if had, newest := r.had(id), id >= sessions-mostSessions; had != newest {
			t.Errorf("session %d of %d is remembered: %v, should be %v", id, sessions, had, newest)
		}
	}
	if kept := len(*r.sessions.Load()); kept != mostSessions {
		t.Errorf("%d sessions are kept, should be %d", kept, mostSessions)
	}
}

func TestNoSessionIsLostThatIsAddedAtTheSameTimeAsAnother(t *testing.T) {
	for range 100 {
		var r registry
		var keepers sync.WaitGroup
		start := make(chan struct{})
		for id := range int64(mostSessions) {
			keepers.Go(func() {
				<-start
				r.add(id)
			})
		}
		close(start)
		keepers.Wait()
		for id := range int64(mostSessions) {
			if !r.had(id) {
				t.Fatalf("session %d of %d was lost", id, mostSessions)
			}
		}
	}
}

// Another Start may have found the keeper before it was taken out, and waits for its end.
func TestStartOfAClosedNodeEndsItsKeeper(t *testing.T) {
	n := &PersistentNode{closed: true}
	k := &keeper{node: n, key: "/n", registry: new(registry), done: make(chan struct{})}
	if err := n.begin(t.Context(), k); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
	select {
	case <-k.done:
	default:
		t.Error("its keeper has not ended")
	}
}
