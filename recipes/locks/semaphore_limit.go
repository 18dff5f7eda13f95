package locks

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gocurator/curator/recipes/shared"
)

type limit struct {
	fixed int
	count *shared.SharedCount
}

// err says why a new acquire is refused: there is no limit, or a negative one.
func (l limit) err() error {
	if err := l.unknown(); err != nil {
		return err
	}
	if l.now() < 0 {
		return fmt.Errorf("the semaphore's limit must not be negative: %v", l.count)
	}
	return nil
}

// unknown says why there is no limit. The count's last value may be old while it is not followed, and would let in too
// many contenders. An outage is no error of the count, because it lets in no contender either.
func (l limit) unknown() error {
	if l.count == nil {
		return nil
	}
	if err := l.count.Err(); err != nil {
		return fmt.Errorf("the semaphore's limit, %v, is not followed: %w", l.count, err)
	}
	return nil
}

// confirm waits until now is as new as the client's listings. Otherwise three contenders would get in under a limit of
// 1 that was 3 before an outage, because their listings may be answered before the count is read.
func (l limit) confirm(ctx context.Context) error {
	if l.count == nil {
		return nil
	}
	err := l.count.Confirm(ctx)
	return cmp.Or(l.unknown(), err)
}

// lost is closed when unknown is no longer nil.
func (l limit) lost() <-chan struct{} {
	if l.count == nil {
		return nil
	}
	return l.count.Unfollowed()
}

func (l limit) now() int {
	if l.count != nil {
		return int(l.count.Count())
	}
	return l.fixed
}
