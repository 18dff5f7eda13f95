package worker

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/gocurator/curator/integration/bench/job"
)

// natsLocks is a mutex on a bucket of JetStream. NATS has no lock of its own; this is the pattern of its documentation
// (docs.nats.io, Key/Value Store Walkthrough, Atomic operations) and of its maintainer's nats-kv-leader-elect: a key is
// created if it is not there, and the holder deletes it. The deletion names the revision that the holder created, and a
// waiter watches the key. As with redsync, a lock lasts for a time, and nothing renews it: the key expires after the
// session timeout.
//
// The pattern says nothing of a create whose context ends, and which the server executes all the same. Here such a key
// is removed; otherwise it would stay until it expires.
type natsLocks struct {
	*nats.Conn
	bucket jetstream.KeyValue
	expiry time.Duration
}

func dialNATS(ctx context.Context, j job.Job) (client, error) {
	conn, err := nats.Connect("nats://" + j.Server)
	if err != nil {
		return nil, err
	}
	n := natsLocks{Conn: conn, expiry: j.Session}
	stream, err := jetstream.New(conn)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		n.bucket, err = stream.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: "locks", History: 1, Storage: jetstream.FileStorage,
			LimitMarkerTTL: j.Session, // keys may expire one by one, and watchers hear of it
		})
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return n, nil
}

func (n natsLocks) close() { n.Close() }

func natsKey(path string) string { return strings.Trim(path, "/") }

func (n natsLocks) lock(_ context.Context, kind, path string, _ int) (pair, error) {
	if kind != job.Mutex {
		return pair{}, noSuchLock("NATS", kind)
	}
	key := natsKey(path)
	return one(func(ctx context.Context) (func(context.Context) error, error) {
		token := []byte(nuid.Next()) // marks this acquire's key
		for {
			revision, err := n.bucket.Create(ctx, key, token, jetstream.KeyTTL(n.expiry))
			if err == nil {
				return func(ctx context.Context) error { return n.remove(ctx, key, revision) }, nil
			}
			if !errors.Is(err, jetstream.ErrKeyExists) {
				go n.undo(context.WithoutCancel(ctx), key, token)
				return nil, err
			}
			if err := n.untilFree(ctx, key); err != nil {
				return nil, err
			}
		}
	}), nil
}

func (n natsLocks) remove(ctx context.Context, key string, revision uint64) error {
	return n.bucket.Delete(ctx, key, jetstream.LastRevision(revision))
}

// undo removes the key of a create that may have been executed. It creates the key once more: the server executes what
// one connection publishes in order, so that afterwards the first create is known to have been executed, or not.
func (n natsLocks) undo(ctx context.Context, key string, token []byte) {
	ctx, cancel := context.WithTimeout(ctx, n.expiry)
	defer cancel()
	revision, err := n.bucket.Create(ctx, key, token, jetstream.KeyTTL(n.expiry))
	if errors.Is(err, jetstream.ErrKeyExists) {
		var entry jetstream.KeyValueEntry
		if entry, err = n.bucket.Get(ctx, key); err != nil || !bytes.Equal(entry.Value(), token) {
			return // it has gone, or is another contender's
		}
		revision = entry.Revision()
	}
	if err == nil {
		_ = n.remove(ctx, key, revision) // if this fails, the key expires
	}
}

// untilFree waits until a key is deleted or expires. A watch begins with what there is, so it misses nothing.
func (n natsLocks) untilFree(ctx context.Context, key string) error {
	watch, err := n.bucket.Watch(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = watch.Stop() }() // fails only if the connection is closed
	held := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case entry, open := <-watch.Updates():
			switch {
			case !open:
				return errors.New("the watch of a key has ended")
			case entry == nil: // after what there was
				if !held {
					return nil
				}
			case entry.Operation() == jetstream.KeyValuePut:
				held = true
			default:
				return nil
			}
		}
	}
}

// left reports whether a lock's key is there.
func (n natsLocks) left(ctx context.Context, path string) (bool, error) {
	_, err := n.bucket.Get(ctx, natsKey(path))
	if errors.Is(err, jetstream.ErrKeyNotFound) { // also if it was deleted
		return false, nil
	}
	return true, err
}
