package worker

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/gocurator/curator/integration/bench/job"
)

// etcd is the mutex of its package concurrency.
type etcd struct {
	*clientv3.Client
	session time.Duration
}

func dialEtcd(ctx context.Context, j job.Job) (client, error) {
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{j.Server}, DialTimeout: 10 * time.Second, Context: ctx, Logger: zap.NewNop(),
	})
	return etcd{c, j.Session}, err
}

func (e etcd) close() { _ = e.Close() } // the process ends

// lock opens a session of its own: to etcd the owner of a lock is a lease, so that workers with one session would not
// exclude each other.
func (e etcd) lock(ctx context.Context, kind, path string, _ int) (pair, error) {
	if kind != job.Mutex {
		return pair{}, noSuchLock("etcd", kind)
	}
	session, err := concurrency.NewSession(e.Client, concurrency.WithTTL(int(e.session.Seconds())), concurrency.WithContext(ctx))
	if err != nil {
		return pair{}, err
	}
	mutex := concurrency.NewMutex(session, path)
	return one(func(ctx context.Context) (func(context.Context) error, error) {
		return mutex.Unlock, mutex.Lock(ctx)
	}), nil
}

// left reports whether any session has a key of a lock.
func (e etcd) left(ctx context.Context, path string) (bool, error) {
	answer, err := e.Get(ctx, path+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	return err == nil && answer.Count > 0, err
}
