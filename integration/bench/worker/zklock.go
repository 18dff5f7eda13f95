package worker

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/integration/bench/job"
)

// goZK is go-zookeeper's own lock.
type goZK struct{ *zk.Conn }

type silent struct{}

func (silent) Printf(string, ...any) {}

func dialZK(ctx context.Context, j job.Job) (client, error) {
	conn, events, err := zk.Connect([]string{j.Server}, j.Session, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return goZK{conn}, nil
			}
		case <-ctx.Done():
			conn.Close()
			return nil, ctx.Err()
		}
	}
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
