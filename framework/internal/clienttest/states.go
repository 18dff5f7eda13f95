package clienttest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
)

// States is a listener that remembers.
type States struct {
	mu    sync.Mutex
	heard []framework.State
	at    []time.Time
}

// Hear is the listener.
func (s *States) Hear(change framework.StateChange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, change.State)
	s.at = append(s.at, time.Now())
}

// All returns the states in the order in which they were heard.
func (s *States) All() []framework.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

// Has reports whether state was heard.
func (s *States) Has(state framework.State) bool { return slices.Contains(s.All(), state) }

// When is the time at which state was first heard.
func (s *States) When(t testing.TB, state framework.State) time.Time {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.heard, state)
	if i < 0 {
		t.Fatalf("state %v: not reported, got %v", state, s.heard)
	}
	return s.at[i]
}

// Want fails the test unless exactly these states were heard.
func (s *States) Want(t testing.TB, want ...framework.State) {
	t.Helper()
	if got := s.All(); !slices.Equal(got, want) {
		t.Errorf("heard %v, want %v", got, want)
	}
}
