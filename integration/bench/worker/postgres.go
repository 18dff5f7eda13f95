package worker

import (
	"context"
	"errors"
	"hash/fnv"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gocurator/curator/integration/bench/job"
)

// postgres is the advisory locks of sessions: each lock that is held, and each waiter, has a connection from the pool
// of its process. A connection whose context ends is closed by pgx, and the server then releases what it held.
type postgres struct{ *pgxpool.Pool }

func dialPostgres(ctx context.Context, j job.Job) (client, error) {
	config, err := pgxpool.ParseConfig("postgres://postgres@" + j.Server + "/postgres?sslmode=disable")
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(min(j.Workers, 64)) + 1 //nolint:gosec // at most 65
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return postgres{pool}, nil
}

func (p postgres) close() { p.Close() }

// postgresKey is the number of a lock.
func postgresKey(path string) int64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(path)) // never fails
	return int64(hash.Sum64())      //nolint:gosec // any number will do
}

func (p postgres) lock(ctx context.Context, kind, path string, _ int) (pair, error) {
	if kind != job.Mutex {
		return pair{}, noSuchLock("Postgres", kind)
	}
	key := postgresKey(path)
	return one(func(ctx context.Context) (func(context.Context) error, error) {
		conn, err := p.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
			conn.Release()
			return nil, err
		}
		return func(ctx context.Context) error {
			defer conn.Release()
			held := false
			err := conn.QueryRow(ctx, "SELECT pg_advisory_unlock($1)", key).Scan(&held)
			if err == nil && !held {
				err = errors.New("was not held any more")
			}
			return err
		}, nil
	}), p.Ping(ctx)
}

// left reports whether a session holds a lock, or waits for it.
func (p postgres) left(ctx context.Context, path string) (found bool, err error) {
	const query = `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND (classid::bigint << 32) | objid::bigint = $1)`
	err = p.QueryRow(ctx, query, postgresKey(path)).Scan(&found)
	return found, err
}
