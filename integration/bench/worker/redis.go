package worker

import (
	"context"
	"errors"
	"io"
	"log"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/gocurator/curator/integration/bench/job"
)

// redisLocks is a library of locks on a Redis.
type redisLocks struct {
	*redis.Client
	mutex func(path string) acquire
}

func dialRedis(j job.Job) *redis.Client {
	log.SetOutput(io.Discard)
	return redis.NewClient(&redis.Options{Addr: j.Server})
}

func (r redisLocks) close() { _ = r.Close() } // the process ends

func (r redisLocks) lock(ctx context.Context, kind, path string, _ int) (pair, error) {
	if kind != job.Mutex {
		return pair{}, noSuchLock("Redis", kind)
	}
	return one(r.mutex(path)), r.Ping(ctx).Err()
}

// dialRedsync is redsync as it comes: a lock lasts 8 s, and is tried for 32 times, 50 to 250 ms apart.
func dialRedsync(_ context.Context, j job.Job) (client, error) { //nolint:unparam // as the others
	c := dialRedis(j)
	sync := redsync.New(goredis.NewPool(c))
	return redisLocks{c, func(path string) acquire {
		mutex := sync.NewMutex(path)
		return func(ctx context.Context) (func(context.Context) error, error) {
			return func(ctx context.Context) error {
				held, err := mutex.UnlockContext(ctx)
				if err == nil && !held {
					err = errors.New("was not held any more")
				}
				return err
			}, mutex.LockContext(ctx)
		}
	}}, nil
}

// dialRedislock is redislock with a lock that lasts as long as redsync's, and a retry every 100 ms: as it comes it does
// not wait.
func dialRedislock(_ context.Context, j job.Job) (client, error) { //nolint:unparam // as the others
	c := dialRedis(j)
	locker := redislock.New(c)
	return redisLocks{c, func(path string) acquire {
		return func(ctx context.Context) (func(context.Context) error, error) {
			lock, err := locker.Obtain(ctx, path, 8*time.Second, &redislock.Options{
				RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond),
			})
			if err != nil {
				return nil, err
			}
			return lock.Release, nil
		}
	}}, nil
}
