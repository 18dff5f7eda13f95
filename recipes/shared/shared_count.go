package shared

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/listen"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
)

// A SharedCount is a 32-bit number in a node that any process can read, set and follow.
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

	waiter session.Waiter // wakes the follower

	looking ranked.Mutex[ranked.Outer, SharedCount] // held from a look at the watch until it is taken; before mu

	mu         ranked.Mutex[ranked.Recipe, SharedCount]
	stop       context.CancelFunc
	done       chan struct{} // closed when the follower has ended; nil before Start
	closed     bool
	refused    error // why the node cannot be followed; nil if it can
	trouble    session.Trouble
	unfollowed chan struct{} // closed while there is an error; another one when there is none again
	value      VersionedValue
	generation int   // how often the client has gone on with a younger ensemble, as far as it has noticed
	restarted  bool  // no value was taken since the last restart
	begun      int32 // the value at Start
	listeners  *listen.Listeners[int32]
}

// A VersionedValue is a count at a moment, for [SharedCount.TrySetCount].
//
// Curator: VersionedValue.
type VersionedValue struct {
	Zxid    int64 // the zxid of the change that set it
	Version int32 // the node's version
	Value   int32
}

var (
	// ErrNotStarted says that a SharedCount is used before Start or after Close.
	ErrNotStarted = errors.New("shared: count is not started")
	// ErrStarted says that a SharedCount was started before.
	ErrStarted = errors.New("shared: count was started before")
	// ErrIllegalVersion says that the node's version has come round to -1, which ZooKeeper takes for "any". One
	// SetCount makes the count usable again.
	//
	// Curator: IllegalTrySetVersionException.
	ErrIllegalVersion = errors.New("shared: version -1 cannot be compared; use SetCount once")
	// ErrNotACount says that the node does not have the four bytes of a count.
	ErrNotACount = errors.New("shared: not a count")
)

// NewSharedCount returns the count at path. It does no I/O. If there is no node yet, Start makes it with seed.
//
// Curator: new SharedCount(client, path, seedValue).
func NewSharedCount(client *framework.Client, path string, seed int32) *SharedCount {
	c := &SharedCount{
		client: client, path: path, seed: seed,
		waiter: session.NewWaiter(), unfollowed: make(chan struct{}), listeners: listen.NewListeners(listen.Newest[int32]),
	}
	close(c.unfollowed) // until Start
	c.err = session.ValidatePath(path)
	if client == nil {
		c.err = session.JoinErrors(c.err, errors.New("client is nil"))
	}
	return c
}

// Start makes the node if it is missing, reads it, and follows its changes from then on, until Close or the end of the
// client, whatever becomes of the servers. It blocks like the operations of package framework, whose errors it returns;
// [ErrNotACount] if the node holds something else; [ErrStarted]. After an error the count is as before.
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
	c.begun = c.value.Value
	follow, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop, c.done, c.unfollowed = stop, make(chan struct{}), make(chan struct{})
	go c.follow(follow, c.done)
	return nil
}

// Close ends the following. The node stays. No listener is called after it has returned, except for one that was about
// to be; it does not wait for one that is running, and a listener may call it.
//
// Curator: SharedCount.close().
func (c *SharedCount) Close() error {
	c.mu.Lock()
	stop, done := c.stop, c.done
	if done != nil && !c.closed {
		c.closed = true
		if c.refused == nil {
			close(c.unfollowed)
		}
		c.trouble.Over()
		c.listeners.Close()
	}
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

// Err is nil while the count follows the node, also through lost connections and sessions. Otherwise Count may be old,
// because only SetCount and TrySetCount of this SharedCount still change it. Err does no I/O. It is
//
//   - [ErrNotStarted] before Start and after Close;
//   - the server's answer (zk.ErrNoAuth) while the client may not read the node;
//   - [ErrNotACount] while the node holds something else, for instance a text that was set by hand;
//   - framework.ErrNoChroot while the servers lack the client's chroot: from the connection timeout on, until they have
//     answered about the node again;
//   - framework.ErrClosed or framework.ErrAuthRefused once the client has ended.
//
// A server does not report a change to a client that may not read it. So the loss of the READ permission, and its
// return, are noticed when the node is read next: after a reconnection, or after at most 64 session timeouts.
func (c *SharedCount) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil || c.closed {
		return ErrNotStarted
	}
	return c.refused
}

// Unfollowed returns a channel that is closed as soon as Err is not nil. When the count is followed again, the next
// call returns another channel.
//
// Curator has none.
func (c *SharedCount) Unfollowed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unfollowed
}

// VersionedValue returns the newest value that is known here, with its version.
//
// Curator: SharedCount.getVersionedValue().
func (c *SharedCount) VersionedValue() VersionedValue {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value
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

// TrySetCount sets the value if it is still previous, and reports whether it did. If not, the newer value has been read
// by the time it returns.
//
// A node that was deleted and created again is recognised once this client has heard of it. Until then ZooKeeper
// compares the node's version alone, and a new node of the same version passes for the old one.
//
// It is never executed twice: if the connection breaks before the answer, it fails with framework.ErrConnectionLost,
// and the value may have been set or not.
//
// Curator: SharedCount.trySetCount(previous, newCount).
func (c *SharedCount) TrySetCount(ctx context.Context, previous VersionedValue, count int32) (bool, error) {
	switch {
	case !c.running():
		return false, ErrNotStarted
	case previous.Version == -1:
		return false, ErrIllegalVersion
	case c.VersionedValue() != previous:
		return false, nil
	}
	// A transaction, since it is not repeated when its answer was lost: the repetition would find the version changed,
	// by itself.
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

func encode(count int32) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(count))
}

// decode takes the value of a node with these data.
func (c *SharedCount) decode(data []byte, stat *zk.Stat) error {
	if len(data) != 4 {
		return fmt.Errorf("%w: %q has %d bytes", ErrNotACount, c.path, len(data))
	}
	c.apply(VersionedValue{Zxid: stat.Mzxid, Version: stat.Version, Value: int32(binary.BigEndian.Uint32(data))})
	return nil
}
