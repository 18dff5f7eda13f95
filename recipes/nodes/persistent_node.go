package nodes

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/listen"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
)

// A PersistentNode keeps a node there from Start to Close. See the package's documentation for what it promises.
//
// Its methods are safe for concurrent use.
//
// Curator: PersistentNode, PersistentTtlNode.
type PersistentNode struct {
	client  *framework.Client
	path    string // as it was asked for
	options options
	err     error // misuse of the constructor

	changes *listen.Listeners[bool]

	mu      ranked.Mutex[ranked.Recipe, PersistentNode]
	keeper  *keeper       // nil before Start and after its failure
	failed  *keeper       // that of a Start that has failed: it may have left a node that outlives sessions
	closed  bool          // Close was called
	news    chan struct{} // closed at the next change; nil while nothing waits for that
	actual  string        // the path with GUID and number; "" while they are not known
	data    []byte        // that the node is to have; not changed
	wanted  int           // how often data were set
	had     []byte        // that the node had last; nil for none
	there   bool
	written int   // the node has the data that were set so many times; 0 for none
	reason  error // why the node is not there, or lacks its data
	tried   int   // the data with which reason came
}

var (
	// ErrNotStarted says that a node is used before Start.
	ErrNotStarted = errors.New("nodes: not started")
	// ErrStarted says that a node was started before.
	ErrStarted = errors.New("nodes: was started before")
	// ErrClosed says that a node was closed.
	ErrClosed = errors.New("nodes: closed")
	// ErrForeign says that the node belongs to another client, or to an earlier process.
	ErrForeign = errors.New("nodes: the node belongs to another")
	// ErrKept says that another PersistentNode of this client keeps the same node.
	ErrKept = errors.New("nodes: another PersistentNode of this client keeps the node")
)

// NewPersistentNode returns a node that is to be kept at path, with these data; nil data are no bytes. It does no I/O,
// and copies data. Without a [WithMode] the node is ephemeral. An invalid path, a nil client and options that are
// refused are all reported by Start.
//
// Curator: new PersistentNode(client, mode, useProtection, basePath, initData), new PersistentTtlNode().
func NewPersistentNode(client *framework.Client, path string, data []byte, opts ...Option) *PersistentNode {
	n := &PersistentNode{
		client: client, path: path, options: newOptions(opts), changes: listen.NewListeners(listen.Every[bool]),
		data: copied(data), wanted: 1,
	}
	errs := append([]error{session.ValidatePath(path)}, n.options.errs...)
	if path == "/" {
		errs = append(errs, errors.New("the root is always there"))
	}
	if client == nil {
		errs = append(errs, errors.New("client is nil"))
	}
	n.err = session.JoinErrors(errs...)
	return n
}

// Start creates the node, with missing parents as containers, and keeps it from then on, through lost connections and
// sessions, until Close or the end of the client. It blocks until the node is there with its data. Where the node of
// another is, it waits until that goes: one of a predecessor that was killed goes when its session expires. ctx bounds
// this wait, and nothing else.
//
// Errors: what is wrong with the arguments of the constructor, all at once; those of framework.Client.Session, such as
// a framework.ConnectError without a server; the server's, such as zk.ErrNoAuth, zk.ErrNoChildrenForEphemerals, or
// framework.ErrUnsupported for a TTL; [ErrForeign], with the end of ctx; [ErrKept]; [ErrStarted]; [ErrClosed]; the end
// of ctx. After an error this client leaves no node behind, as after Close, and Start may be called again.
//
// Curator: PersistentNode.start(), waitForInitialCreate().
func (n *PersistentNode) Start(ctx context.Context) error {
	if err := n.start(ctx); err != nil {
		return fmt.Errorf("nodes: start %q: %w", n.path, err)
	}
	return nil
}

func (n *PersistentNode) start(ctx context.Context) error {
	if n.err != nil {
		return n.err
	}
	absolute, err := n.client.AbsolutePath(n.path)
	if err != nil {
		return err
	}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	k := newKeeper(n, absolute, stop)
	if err := n.begin(k); err != nil {
		stop()
		return err
	}
	waiting, enough := context.WithCancel(ctx)
	defer enough()
	defer context.AfterFunc(keeping, enough)() // Close ends the wait for a server
	if _, err = n.client.Session(waiting); err != nil {
		k.leave()
	} else {
		go k.run(keeping)
		err = n.await(ctx, func() (bool, error) {
			if n.reason != nil && !errors.Is(n.reason, ErrForeign) {
				return false, n.reason
			}
			return n.there && n.written > 0, nil
		})
	}
	if err == nil {
		return nil
	}
	_ = k.end() // a node that cannot be removed goes with its session, or is known to the next Start
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return ErrClosed
	}
	n.keeper, n.failed, n.there, n.reason = nil, k, false, nil
	n.wakeLocked()
	return err
}

func (n *PersistentNode) begin(k *keeper) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return ErrClosed
	case n.keeper != nil:
		return ErrStarted
	}
	if !n.options.sequential() {
		if err := k.registry.keep(k.absolute); err != nil {
			return err
		}
	}
	if left := n.failed; left != nil && left.mayRemain() {
		k.path, k.made, k.unknown = left.path, left.made, left.unknown
	}
	n.keeper, n.actual, n.there, n.written, n.reason = k, "", false, 0, nil
	if k.path != "" {
		n.actual = n.client.RelativePath(k.path)
	}
	return nil
}

// Close removes the node, if it is this client's, and ends the calls of listeners. It blocks until the server has
// answered, for at most the client's connection timeout. A create that a server executes late is removed in the
// background. A function of [PersistentNode.OnChange] may call it.
//
// Errors: [ErrNotStarted]; the server's zk.ErrNoAuth, zk.ErrNotEmpty if the node has children; context.DeadlineExceeded
// without an answer in that time. The removal of an ephemeral node goes on in the background after the last, and after
// zk.ErrNoAuth, until its session ends, and the node with it. Another node stays then, and Close may be called again,
// which otherwise does nothing. Without a session Close returns nil: the node of the one before goes at the servers'
// expiry.
//
// To leave a node behind that outlives sessions, close the client, and not the node.
//
// Curator: PersistentNode.close(). PersistentTtlNode.close() leaves the node.
func (n *PersistentNode) Close() error {
	n.mu.Lock()
	k := n.keeper
	if k == nil && !n.closed {
		n.mu.Unlock()
		return ErrNotStarted
	}
	if !n.closed {
		n.closed, n.there, n.reason = true, false, ErrClosed
		n.changes.Close()
		n.wakeLocked()
	}
	n.mu.Unlock()
	if k == nil {
		return nil
	}
	if err := k.end(); err != nil {
		return fmt.Errorf("nodes: close %q: %w", n.path, err)
	}
	return nil
}

// Path returns the node's path, with GUID and number if it is sequential; "" until those are known.
//
// Curator: PersistentNode.getActualPath().
func (n *PersistentNode) Path() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.actual
}

// There reports whether the node is there, and this client's, by what the servers have said. It does no I/O. While the
// connection is lost, it is as it was until the session is over.
//
// Curator: the latch of PersistentNode.waitForInitialCreate().
func (n *PersistentNode) There() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.there
}

// Err is nil while the node is there, or is being made. It does no I/O. It is
//
//   - [ErrNotStarted] before Start; [ErrClosed];
//   - [ErrForeign] while the node of another is there;
//   - what the server says to creating or writing it, such as zk.ErrNoAuth: it is tried again, about once a second;
//   - framework.ErrNoChroot while the servers lack the client's chroot;
//   - framework.ErrClosed and the like once the client has ended.
//
// Curator has none: PersistentNode logs it.
func (n *PersistentNode) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.keeper == nil && !n.closed {
		return ErrNotStarted
	}
	return n.reason
}
