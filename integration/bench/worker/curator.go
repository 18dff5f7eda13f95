package worker

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/recipes/locks"
)

// curator is this library.
type curator struct {
	*framework.Client
	retain []locks.RetainOption // how mutexes are retained; nil if they are not
}

func dialCurator(ctx context.Context, j job.Job) (client, error) {
	c, err := connect(ctx, j)
	return curator{Client: c}, err
}

func connect(ctx context.Context, j job.Job) (*framework.Client, error) {
	c, err := framework.NewClient(j.Server,
		framework.WithSessionTimeout(j.Session),
		framework.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	if err != nil {
		return nil, err
	}
	err = c.BlockUntilConnected(ctx)
	return c, err
}

func (c curator) close() { _ = c.Close() } // the session is over either way, at the latest when it expires

func (c curator) lock(_ context.Context, kind, path string, limit int) (pair, error) {
	switch kind {
	case job.Mutex:
		mutex := locks.NewInterProcessMutex(c.Client, path)
		if c.retain != nil {
			return one(leased(mutex.Retained(c.retain...))), nil
		}
		return one(leased(mutex)), nil
	case job.Read, job.Write, job.ReadWrite:
		lock := locks.NewInterProcessReadWriteLock(c.Client, path)
		return sides(kind, leased(lock.ReadLock()), leased(lock.WriteLock())), nil
	case job.Semaphore:
		return one(leased(locks.NewInterProcessSemaphoreV2(c.Client, path, limit))), nil
	case job.SemMutex:
		return one(leased(locks.NewInterProcessSemaphoreMutex(c.Client, path))), nil
	default:
		return pair{}, noSuchLock("this library", kind)
	}
}

// left reports whether a lock's directory has a node.
func (c curator) left(ctx context.Context, path string) (bool, error) {
	nodes, _, err := c.Children(ctx, path)
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return len(nodes) > 0, err
}

// sides chooses those that a kind of use of a read/write lock takes.
func sides(kind string, read, write acquire) pair {
	switch kind {
	case job.Read:
		return one(read)
	case job.Write:
		return one(write)
	default:
		return pair{read, write}
	}
}

func leased(lock locks.Lock) acquire {
	return func(ctx context.Context) (func(context.Context) error, error) {
		lease, err := lock.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		return func(context.Context) error { return lease.Release() }, nil
	}
}
