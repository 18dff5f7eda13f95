package leader

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Terms is how many terms a selector remembers.
func (s *LeaderSelector) Terms() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.terms)
}

// NewSelectorLock makes a selector's campaigns a lock, with options that a selector does not offer.
func NewSelectorLock(client *framework.Client, path string, opts ...locks.Option) locks.Lock {
	s := NewLeaderSelector(client, path)
	s.lock = locks.NewInterProcessMutex(client, path, opts...)
	return &selectorLock{InterProcessMutex: s.lock, selector: s}
}

// A selectorLock acquires by Campaign.
type selectorLock struct {
	*locks.InterProcessMutex
	selector *LeaderSelector
}

func (l *selectorLock) Acquire(ctx context.Context) (*locks.Lease, error) {
	return l.selector.Campaign(ctx)
}

// CallEnded has a latch called as at the end of a term.
func (l *LeaderLatch) CallEnded() { l.ended() }
