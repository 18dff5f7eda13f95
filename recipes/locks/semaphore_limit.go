package locks

import (
	"errors"
	"fmt"

	"github.com/gocurator/curator/recipes/shared"
)

type limit struct {
	fixed int
	count *shared.SharedCount
}

// err says why there is no limit: the count was not started, is closed, or is negative. A limit that can no longer be
// read still counts.
func (l limit) err() error {
	if l.count == nil {
		return nil
	}
	if err := l.count.Err(); errors.Is(err, shared.ErrNotStarted) {
		return fmt.Errorf("the semaphore's limit: %w", err)
	}
	if l.count.Count() < 0 {
		return fmt.Errorf("the semaphore's limit must not be negative: %v", l.count)
	}
	return nil
}

func (l limit) now() int {
	if l.count != nil {
		return int(l.count.Count())
	}
	return l.fixed
}
