package survey

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// A Head is who holds a lock and how many wait, read without reading each contender.
type Head struct {
	Kind    string
	Holders int
	Waiting int
	Who     string    // the first holder; empty if the lock is free
	Since   time.Time // when that holder came; zero if the lock is free
	Oldest  time.Time // when the first waiter came; zero if nothing waits
}

// ReadHead reads the directories of a lock, and two contenders at most. It agrees with Read on who holds and who waits,
// except that kinds that are mixed count as the first of them. It blocks like every operation of package framework, and
// returns their errors; a lock that has gone is free.
func ReadHead(ctx context.Context, client *framework.Client, lock string) (Head, error) {
	children, _, err := client.Children(ctx, lock)
	if errors.Is(err, zk.ErrNoNode) {
		return Head{Kind: describe(nil)}, nil
	}
	if err != nil {
		return Head{}, err
	}
	kinds, _ := sortOut(children)
	h := Head{Kind: describe(kinds)}
	queue := contendersIn(children)
	in := admitted(queue)
	holders, waiters := within(lock, queue[:in]), within(lock, queue[in:])
	if kinds["semaphore"] {
		if holders, waiters, err = semaphoreHead(ctx, client, lock); err != nil {
			return Head{}, err
		}
	}
	h.Holders, h.Waiting = len(holders), len(waiters)
	if len(holders) > 0 {
		data, stat, err := client.Get(ctx, holders[0])
		switch {
		case err == nil:
			h.Who, h.Since = Text(data), time.UnixMilli(stat.Ctime)
		case errors.Is(err, zk.ErrNoAuth):
			h.Who = "(may not be read)"
		case !errors.Is(err, zk.ErrNoNode): // it has left: the next look shows who follows
			return Head{}, err
		}
	}
	if len(waiters) > 0 {
		stat, err := client.Exists(ctx, waiters[0])
		if err != nil {
			return Head{}, err
		}
		if stat != nil {
			h.Oldest = time.UnixMilli(stat.Ctime)
		}
	}
	return h, nil
}

// contendersIn returns the children that are contenders, in the order of their numbers.
func contendersIn(children []string) []string {
	var queue []string
	for _, child := range children {
		if _, ok := ParseName(child); ok {
			queue = append(queue, child)
		}
	}
	slices.SortFunc(queue, func(a, b string) int {
		first, _ := ParseName(a)
		second, _ := ParseName(b)
		return cmp.Or(cmp.Compare(first.Number, second.Number), cmp.Compare(a, b))
	})
	return queue
}

// admitted is how many of a queue hold: the readers before the first writer, or the first contender.
func admitted(queue []string) int {
	isReader := func(name string) bool {
		n, _ := ParseName(name)
		return n.Kind.Shared()
	}
	readers := slices.IndexFunc(queue, func(name string) bool { return !isReader(name) })
	switch {
	case readers < 0:
		return len(queue)
	case readers == 0:
		return 1
	default:
		return readers
	}
}

// within returns the paths of names in a directory.
func within(dir string, names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, path.Join(dir, name))
	}
	return paths
}

// semaphoreHead returns the leases that count, and those that wait at the gate. The last lease does not count yet if
// its owner is the first at the gate.
func semaphoreHead(ctx context.Context, client *framework.Client, lock string) (holders, waiters []string, err error) {
	if holders, err = inOrder(ctx, client, path.Join(lock, "leases")); err != nil {
		return nil, nil, err
	}
	waiters, err = inOrder(ctx, client, path.Join(lock, "locks"))
	if err != nil || len(holders) == 0 || len(waiters) == 0 {
		return holders, waiters, err
	}
	last, err := client.Exists(ctx, holders[len(holders)-1])
	if err != nil {
		return nil, nil, err
	}
	first, err := client.Exists(ctx, waiters[0])
	if err != nil {
		return nil, nil, err
	}
	if last != nil && first != nil && last.EphemeralOwner == first.EphemeralOwner {
		holders = holders[:len(holders)-1]
	}
	return holders, waiters, nil
}

// inOrder lists the contenders in a directory that may be missing.
func inOrder(ctx context.Context, client *framework.Client, dir string) ([]string, error) {
	children, _, err := client.Children(ctx, dir)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return within(dir, contendersIn(children)), err
}
