package shared

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// A SharedCount is a 32-bit number in a node that any process can read and set, and that everybody is told of when it changes.
// The node has the number in four bytes, the highest first, like Java Curator's.
//
// Its methods are safe for concurrent use.
//
// Curator: SharedCount.
type SharedCount struct {
	client *framework.Client
	path   string
	seed   int32
	err    error // misuse of the constructor

	wake chan struct{} // the follower has something to look at

	mu        sync.Mutex
	stop      context.CancelFunc
	done      chan struct{} // closed when the follower has ended; nil before Start
	closed    bool
	value     VersionedValue
	told      int32 // what listeners have heard last
	listeners map[int]func(int32)
	next      int
}

// A VersionedValue is a count at a moment, for [SharedCount.TrySetCount].
//
// Curator: VersionedValue.
type VersionedValue struct {
	Zxid    int64 // of the change that set it
	Version int32 // of the node
	Value   int32
}

var (
	// ErrNotStarted says that a SharedCount is used before Start or after Close.
	ErrNotStarted = errors.New("shared: count is not started")
	// ErrStarted says that a SharedCount was started before.
	ErrStarted = errors.New("shared: count was started before")
	// ErrVersion says that the node's version has come round to -1, which ZooKeeper takes for "any". One SetCount makes the count
	// usable again.
	//
	// Curator: IllegalTrySetVersionException.
	ErrVersion = errors.New("shared: version -1 cannot be compared; use SetCount once")
	// ErrForeign says that the node does not have the four bytes of a count.
	ErrForeign = errors.New("shared: not a count")
)

// NewSharedCount returns the count at path. It does no I/O. If there is no node yet, Start makes it with seed.
//
// Curator: new SharedCount(client, path, seedValue).
func NewSharedCount(client *framework.Client, path string, seed int32) *SharedCount {
	c := &SharedCount{client: client, path: path, seed: seed, wake: make(chan struct{}, 1), listeners: map[int]func(int32){}}
	c.err = framework.ValidatePath(path)
	if client == nil {
		c.err = errors.Join(c.err, errors.New("client is nil"))
	}
	return c
}

// Start makes the node if it is missing, reads it, and follows its changes from then on, until Close or the end of the client.
// It blocks like the operations of package framework, whose errors it returns; [ErrForeign] if the node holds something else;
// [ErrStarted]. After an error the count is as before.
//
// Curator: SharedCount.start().
func (c *SharedCount) Start(ctx context.Context) error {
	if c.err != nil {
		return fmt.Errorf("shared: count at %q: %w", c.path, c.err)
	}
	c.mu.Lock()
	started := c.done != nil
	c.mu.Unlock()
	if started {
		return ErrStarted
	}
	_, _, err := c.client.Create(ctx, c.path, encode(c.seed), framework.CreatingParentContainersIfNeeded())
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	if err := c.read(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done != nil {
		return ErrStarted
	}
	c.told = c.value.Value
	follow, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop, c.done = stop, make(chan struct{})
	go c.follow(follow, c.done)
	return nil
}

// Close ends the following, and waits until no listener is running. The node stays. It must not be called by a listener.
//
// Curator: SharedCount.close().
func (c *SharedCount) Close() error {
	c.mu.Lock()
	stop, done := c.stop, c.done
	c.closed = done != nil
	c.mu.Unlock()
	if done == nil {
		return ErrNotStarted
	}
	stop()
	<-done
	return nil
}

// Count returns the newest value that is known here. It does no I/O. Before Start it is the seed.
//
// Curator: SharedCount.getCount().
func (c *SharedCount) Count() int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.value.Zxid == 0 {
		return c.seed
	}
	return c.value.Value
}

// VersionedValue returns the newest value that is known here, with its version.
//
// Curator: SharedCount.getVersionedValue().
func (c *SharedCount) VersionedValue() VersionedValue {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value
}

// OnChange calls fn with every value that differs from the one told before; values that follow each other quickly may be told
// as one. Calls come one at a time, on a goroutine of the count, after Start. stop ends them; one may be running when it
// returns.
//
// Curator: SharedCount.addListener().
func (c *SharedCount) OnChange(fn func(count int32)) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.next
	c.next++
	c.listeners[id] = fn
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.listeners, id)
	}
}

// SetCount sets the value, whatever it was.
//
// Curator: SharedCount.setCount().
func (c *SharedCount) SetCount(ctx context.Context, count int32) error {
	if !c.running() {
		return ErrNotStarted
	}
	stat, err := c.client.Set(ctx, c.path, encode(count), -1)
	if err != nil {
		return err
	}
	c.apply(VersionedValue{Zxid: stat.Mzxid, Version: stat.Version, Value: count})
	return nil
}

// TrySetCount sets the value if it is still previous, and reports whether it did. If not, the newer value has been read by the
// time it returns.
//
// It is never executed twice: if the connection breaks before the answer, it fails with framework.ErrConnectionLost, and the value
// may have been set or not.
//
// Curator: SharedCount.trySetCount(previous, newCount).
func (c *SharedCount) TrySetCount(ctx context.Context, previous VersionedValue, count int32) (bool, error) {
	switch {
	case !c.running():
		return false, ErrNotStarted
	case previous.Version == -1:
		return false, ErrVersion
	case c.VersionedValue() != previous:
		return false, nil
	}
	// A transaction, since it is not repeated when its answer was lost: the repetition would find the version changed, by itself.
	results, err := c.client.Transaction(ctx, framework.SetOp(c.path, encode(count), previous.Version))
	if errors.Is(err, zk.ErrBadVersion) {
		return false, c.read(ctx)
	}
	if err != nil {
		return false, err
	}
	stat := results[0].Stat
	c.apply(VersionedValue{Zxid: stat.Mzxid, Version: stat.Version, Value: count})
	return true, nil
}

func (c *SharedCount) running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done != nil && !c.closed
}

func (c *SharedCount) read(ctx context.Context) error {
	data, stat, err := c.client.Get(ctx, c.path)
	if err != nil {
		return err
	}
	value, err := decode(data)
	if err != nil {
		return fmt.Errorf("%w: %q has %d bytes", err, c.path, len(data))
	}
	c.apply(VersionedValue{Zxid: stat.Mzxid, Version: stat.Version, Value: value})
	return nil
}

// apply takes a value if it is newer than the one that is known: answers of different servers may come out of order.
func (c *SharedCount) apply(v VersionedValue) {
	c.mu.Lock()
	newer := v.Zxid > c.value.Zxid
	if newer {
		c.value = v
	}
	c.mu.Unlock()
	if newer {
		c.signal()
	}
}

func (c *SharedCount) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// follow watches the node through one session after the other, and tells listeners.
func (c *SharedCount) follow(ctx context.Context, done chan struct{}) {
	defer close(done)
	absolute, err := c.client.AbsolutePath(c.path)
	if err != nil {
		return // not possible: Start has used the path
	}
	for ctx.Err() == nil {
		session, err := c.client.Session(ctx)
		var unreachable *framework.ConnectError
		switch {
		case err == nil:
			c.followSession(ctx, session, absolute)
		case !errors.As(err, &unreachable):
			return // the client is closed, or will never be let in
		}
	}
}

func (c *SharedCount) followSession(ctx context.Context, session *framework.Session, absolute string) {
	watch := session.WatchLasting(absolute, c.signal)
	defer session.Unwatch(watch)
	for {
		if view := session.View(watch); view.Status == framework.StatusPresent {
			if value, err := decode(view.Data); err == nil {
				c.apply(VersionedValue{Zxid: view.Stat.Mzxid, Version: view.Stat.Version, Value: value})
			}
		}
		c.tell()
		select {
		case <-c.wake:
		case <-session.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

func (c *SharedCount) tell() {
	c.mu.Lock()
	count := c.value.Value
	var fns []func(int32)
	if count != c.told {
		c.told = count
		for _, fn := range c.listeners {
			fns = append(fns, fn)
		}
	}
	c.mu.Unlock()
	for _, fn := range fns {
		fn(count)
	}
}

func encode(count int32) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(count))
}

func decode(data []byte) (int32, error) {
	if len(data) != 4 {
		return 0, ErrForeign
	}
	return int32(binary.BigEndian.Uint32(data)), nil
}
