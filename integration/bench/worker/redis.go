package worker

import (
	"context"
	"errors"
	"io"
	"log"
	"strings"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/gocurator/curator/integration/bench/job"
)

// redisLocks is a library of locks on a Redis, or on several that know nothing of each other.
type redisLocks struct {
	servers []*redis.Client
	mutex   func(path string) acquire
}

func dialRedis(j job.Job) []*redis.Client {
	log.SetOutput(io.Discard)
	var servers []*redis.Client
	for addr := range strings.SplitSeq(j.Server, ",") {
		servers = append(servers, redis.NewClient(&redis.Options{Addr: addr}))
	}
	return servers
}

func (r redisLocks) close() {
	for _, server := range r.servers {
		_ = server.Close() // the process ends
	}
}

func (r redisLocks) lock(ctx context.Context, kind, path string, _ int) (pair, error) {
	if kind != job.Mutex {
		return pair{}, noSuchLock("Redis", kind)
	}
	for _, server := range r.servers {
		if err := server.Ping(ctx).Err(); err != nil {
			return pair{}, err
		}
	}
	return one(r.mutex(path)), nil
}

// left reports whether a lock's key is on most of the servers: then no other contender gets it. A key on fewer of them
// keeps nothing taken.
func (r redisLocks) left(ctx context.Context, path string) (bool, error) {
	found := 0
	for _, server := range r.servers {
		n, err := server.Exists(ctx, path).Result()
		if err != nil {
			return false, err
		}
		found += int(n)
	}
	return most(found, len(r.servers)), nil
}

func most(found, servers int) bool { return 2*found > servers }

// dialRedsync is redsync with its defaults: a lock lasts 8 s, and is tried for 32 times, 50 to 250 ms apart. With
// several servers it is the algorithm Redlock.
func dialRedsync(_ context.Context, j job.Job) (client, error) { //nolint:unparam // as the others
	servers := dialRedis(j)
	var pools []redsyncredis.Pool
	for _, server := range servers {
		pools = append(pools, goredis.NewPool(server))
	}
	sync := redsync.New(pools...)
	return redisLocks{servers, func(path string) acquire {
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

// dialRedislock is redislock with a lock that lasts as long as redsync's, and a retry every 100 ms: with its defaults
// it does not wait.
func dialRedislock(_ context.Context, j job.Job) (client, error) { //nolint:unparam // as the others
	servers := dialRedis(j)
	locker := redislock.New(servers[0])
	return redisLocks{servers, func(path string) acquire {
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
