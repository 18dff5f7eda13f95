package worker

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/integration/internal/gozk"
)

// goZK is go-zookeeper's own lock.
type goZK struct{ *zk.Conn }

func dialZK(ctx context.Context, j job.Job) (client, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := gozk.Connect(ctx, j.Server, j.Session)
	if err != nil {
		return nil, err
	}
	return goZK{conn}, nil
}

func (c goZK) close() { c.Close() }

func (c goZK) lock(_ context.Context, kind, path string, _ int) (pair, error) {
	if kind != job.Mutex {
		return pair{}, noSuchLock("zk.Lock", kind)
	}
	lock := zk.NewLock(c.Conn, path, zk.WorldACL(zk.PermAll))
	return one(func(context.Context) (func(context.Context) error, error) {
		return func(context.Context) error { return lock.Unlock() }, lock.Lock()
	}), nil
}
