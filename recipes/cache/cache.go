package cache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/listen"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/setup"
)

// A CuratorCache is a copy of a node, and of what is below it, that follows the servers. See the package's
// documentation for what it promises.
//
// Its methods are safe for concurrent use.
//
// Curator: CuratorCache, NodeCache, PathChildrenCache, TreeCache.
type CuratorCache struct {
	client  *framework.Client
	path    string
	options options
	err     error // misuse of the constructor

	now       atomic.Pointer[state] // stored under mu
	listeners *listen.Listeners[*state]

	mu       ranked.Mutex[ranked.Recipe, CuratorCache]
	follower *follower     // nil before Start and after the end
	news     chan struct{} // closed at the next change; nil while nothing waits for that
	stats    Stats
	trouble  session.Trouble
}

var (
	// ErrNotStarted says that a cache is used before Start.
	ErrNotStarted = errors.New("cache: not started")
	// ErrStarted says that a cache was started before.
	ErrStarted = errors.New("cache: was started before")
	// ErrClosed says that a cache was closed.
	ErrClosed = errors.New("cache: closed")
	// ErrTooLarge says that a tree has more bytes than [WithMaxBytes] allows. The cache has ended, and is empty.
	ErrTooLarge = errors.New("cache: the tree is larger than the limit")
)

// NewCuratorCache returns a cache of the node at path, and of what is below it. It does no I/O. The node need not
// exist. An invalid path, a nil client and options that are refused are all reported by Start.
//
// Curator: CuratorCache.build(), new NodeCache(), new PathChildrenCache(), TreeCache.newBuilder().
func NewCuratorCache(client *framework.Client, path string, opts ...Option) *CuratorCache {
	c := &CuratorCache{client: client, path: path, options: newOptions(opts), listeners: listen.NewListeners(listen.Newest[*state])}
	c.now.Store(&state{})
	problems := append(setup.Problems{session.ValidatePath(path)}, c.options.problems...)
	problems.Refuse(client == nil, "client is nil")
	c.err = session.JoinErrors(problems...)
	return c
}

// Start fills the cache, and has it follow the servers from then on, through lost connections and sessions, until Close
// or the end of the client. It blocks until the cache has everything; a root that does not exist is an empty cache. ctx
// bounds this wait, and nothing else.
//
// Errors: what is wrong with the arguments of the constructor, all at once; those of framework.Client.Session, such as
// a framework.ConnectError without a server; the server's zk.ErrNoAuth if the root may not be read;
// framework.ErrTooLarge if a node or a listing is longer than framework.WithMaxResponse; [ErrTooLarge]; [ErrStarted];
// [ErrClosed]; the end of ctx. After an error nothing remains at the servers, the cache is empty, and Start may be
// called again.
//
// Curator: CuratorCache.start(), PathChildrenCache.start(StartMode), which do not wait for all events.
func (c *CuratorCache) Start(ctx context.Context) error {
	if err := c.start(ctx); err != nil {
		return fmt.Errorf("cache of %q: %w", c.path, err)
	}
	return nil
}

func (c *CuratorCache) start(ctx context.Context) error {
	if c.err != nil {
		return c.err
	}
	absolute, err := c.client.AbsolutePath(c.path)
	if err != nil {
		return err
	}
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	f := newFollower(c, absolute, stop)
	if err := c.begin(f); err != nil {
		stop()
		return err
	}
	waiting, enough := context.WithCancel(ctx)
	defer enough()
	defer context.AfterFunc(following, enough)() // Close ends the wait for a server
	if _, err = c.client.Session(waiting); err == nil {
		go f.follow(following)
		err = c.await(ctx, func() (bool, error) {
			switch now := c.now.Load(); {
			case now.err != nil:
				return false, now.err
			default:
				return now.synced, f.blocked
			}
		})
	}
	if err != nil {
		c.end(f, nil)
	}
	if over := c.now.Load().err; err != nil && errors.Is(over, ErrClosed) {
		return over
	}
	return err
}

func (c *CuratorCache) begin(f *follower) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case errors.Is(c.now.Load().err, ErrClosed):
		return ErrClosed
	case c.follower != nil:
		return ErrStarted
	}
	c.follower, c.stats = f, Stats{Stale: time.Now()}
	c.publishLocked(&state{})
	return nil
}

// end ends a follower, and empties the cache. err says why; it is nil if Start has failed.
func (c *CuratorCache) end(f *follower, err error) {
	f.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.follower == f {
		if err != nil {
			f.noteLocked(err)
		}
		c.follower = nil
		c.publishLocked(&state{err: err})
	}
}

// Close ends the following, and the loops and functions that hear of events, and empties the cache. It does not block:
// the watch goes from the server soon after. No function of [CuratorCache.OnEvent] is called after it has returned,
// except for one that was about to be; Close does not wait for one that is running, and such a function may call it.
//
// Errors: [ErrNotStarted]. To close a cache again does nothing.
//
// Curator: CuratorCache.close().
func (c *CuratorCache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now.Load()
	if c.follower == nil && now.err == nil {
		return ErrNotStarted
	}
	if c.follower != nil {
		c.follower.stop()
		c.follower = nil
	}
	c.trouble.Over()
	c.listeners.Close()
	if !errors.Is(now.err, ErrClosed) {
		c.publishLocked(&state{err: ErrClosed})
	}
	return nil
}

// Err is nil while the cache follows the servers, also while it is Stale for want of a connection. It does no I/O. It
// is
//
//   - [ErrNotStarted] before Start;
//   - the server's zk.ErrNoAuth while the root may not be read, framework.ErrTooLarge while a node or a listing is
//     longer than framework.WithMaxResponse, or framework.ErrNoChroot while the servers lack the client's chroot: the
//     cache is Stale, keeps what it can, and is Synced again by itself;
//   - [ErrTooLarge], [ErrClosed], or framework.ErrClosed and the like once the client has ended: the cache is over.
//
// Curator: CuratorCacheBuilder.withExceptionHandler().
func (c *CuratorCache) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch now := c.now.Load(); {
	case now.err != nil:
		return now.err
	case c.follower == nil:
		return ErrNotStarted
	default:
		return c.follower.blocked
	}
}

// Synced reports whether the cache has everything that the client may read, and hears of each change. It is false until
// Start has returned, while the connection is lost, and while Err says that something is missing.
//
// Curator: CuratorCacheListener.initialized(), once.
func (c *CuratorCache) Synced() bool { return c.now.Load().synced }

// Sync blocks until the cache has every change that was committed before the call. It asks the server to catch up with
// the leader, and waits until the cache has what the server then reports; without a connection it waits for one.
//
// Errors: that of [CuratorCache.Err], if the cache does not follow; those of framework.Client.Sync and Exists; the end
// of ctx.
//
// Curator has none.
func (c *CuratorCache) Sync(ctx context.Context) error {
	if err := c.Err(); err != nil {
		return err
	}
	if err := c.client.Sync(ctx, c.path); err != nil {
		return err
	}
	if err := c.outwaitWatches(ctx); err != nil {
		return err
	}
	var following *follower
	began := 0
	return c.await(ctx, func() (bool, error) {
		f, now := c.follower, c.now.Load()
		switch {
		case now.err != nil:
			return false, now.err
		case f == nil:
			return false, ErrNotStarted
		case f.blocked != nil:
			return false, f.blocked
		case f != following: // the first, or the cache was started again
			following, began = f, f.nextRoundLocked()
		}
		return now.synced && f.settled >= began, nil
	})
}

// outwaitWatches lets watches of single nodes read what they have heard of: their answers come before those to later
// requests. A root that was created is read twice, first for its existence. The watch of a tree needs none of that.
func (c *CuratorCache) outwaitWatches(ctx context.Context) error {
	c.mu.Lock()
	single := c.follower != nil
	if single {
		_, tree := c.follower.observer.(*treeSource)
		single = !tree
	}
	c.mu.Unlock()
	for range 2 {
		if !single {
			break
		}
		if _, err := c.client.Exists(ctx, c.path); err != nil && !errors.Is(err, zk.ErrNoAuth) {
			return err
		}
	}
	return nil
}
