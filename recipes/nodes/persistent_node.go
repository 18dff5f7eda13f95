package nodes

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/listen"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/setup"
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

	mu     ranked.Mutex[ranked.Recipe, PersistentNode]
	keeper *keeper       // nil before Start and after its failure
	closed bool          // Close was called
	news   chan struct{} // closed at the next change
	wanted content
	state  state

	trouble session.Trouble
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
		wanted: content{copied(data), 1}, news: make(chan struct{}),
	}
	n.state.had = n.wanted
	problems := append(setup.Problems{session.ValidatePath(path)}, n.options.problems...)
	problems.Refuse(path == "/", "the root is always there")
	problems.Refuse(client == nil, "client is nil")
	n.err = session.JoinErrors(problems...)
	return n
}

// Start creates the node, with missing parents as containers, and keeps it from then on, through lost connections and
// sessions, until Close or the end of the client. It blocks until the node is there with its data. Where the node of
// another is, it waits until that goes: one of a predecessor that was killed goes when its session expires. ctx bounds
// this wait, and nothing else.
//
// Errors: what is wrong with the arguments of the constructor, all at once; those of framework.Client.Session, such as
// a framework.ConnectError without a server; the server's, such as zk.ErrNoAuth, zk.ErrNoChildrenForEphemerals, or
// framework.ErrUnsupported for a TTL; framework.ErrTooLarge; [ErrForeign], with the end of ctx; [ErrKept];
// [ErrStarted]; [ErrClosed]; the end of ctx. After an error no node remains that Start has created or written, as after
// Close, and no other one was removed (see "What is removed" in the package's documentation). Once ctx has ended, the
// removal goes on in the background, for at most a connection timeout if the node outlives sessions; if it fails then,
// a warning is logged. Start may be called again, and then waits for that removal.
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
	k := &keeper{
		node: n, absolute: absolute, key: absolute, waiter: session.NewWaiter(), late: -1,
		stop: stop, stopped: keeping.Done(), done: make(chan struct{}),
	}
	if n.options.sequential() {
		k.key = n
	}
	k.registry = session.Attach(n.client.Attachments(), func() *registry { return &registry{} })
	if err := n.begin(ctx, k); err != nil {
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
		err = n.await(ctx, k, 0)
	}
	if err == nil || !n.fails() {
		return nil
	}
	k.giveUp(ctx)
	n.change(func(is *state) { n.keeper, is.there = nil, false })
	if errors.Is(n.Err(), ErrClosed) { // Close has ended the wait for a server
		return ErrClosed
	}
	return err
}

// giveUp ends the keeping of a Start that fails. The removal goes on after the end of ctx. An ephemeral node that
// cannot be removed goes with its session.
func (k *keeper) giveUp(ctx context.Context) {
	k.stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := k.end(); err != nil && !k.node.options.ephemeral() {
			k.node.client.Logger().Warn("nodes: the node of a Start that failed could not be removed", "path", k.absolute, "error", err)
		}
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// Close removes the node, if it is this client's, and ends the calls of listeners. It blocks until the server has
// answered, for at most the client's connection timeout. A create that a server executes late is removed in the
// background. A function of [PersistentNode.OnChange] may call it.
//
// Errors: [ErrNotStarted]; the server's zk.ErrNoAuth, zk.ErrNotEmpty if the node has children; context.DeadlineExceeded
// without an answer in that time. The removal of an ephemeral node goes on in the background after the last, and after
// zk.ErrNoAuth, until its session ends, and the node with it. A node that outlives sessions stays, until a later
// PersistentNode takes it over: Close tries once, and returns framework.ErrClosed if the client was closed before. For
// an ephemeral node Close returns nil without a session: the node goes with the session before.
//
// To leave a node behind that outlives sessions, close the client, and not the node.
//
// Curator: PersistentNode.close(). PersistentTtlNode.close() leaves the node.
func (n *PersistentNode) Close() error {
	n.change(func(is *state) {
		if n.keeper != nil {
			n.closed, is.there = true, false
			n.changes.Close()
		}
	})
	n.mu.Lock()
	k := n.keeper
	n.mu.Unlock()
	if k == nil {
		return ErrNotStarted
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
	path := n.now().path
	if path == "" {
		return ""
	}
	return n.client.RelativePath(path)
}

// There reports whether the node is there, and this client's, by what the servers have said. It does no I/O. While the
// connection is lost, it is as it was until the session is over.
//
// Curator: the latch of PersistentNode.waitForInitialCreate().
func (n *PersistentNode) There() bool { return n.now().there }

// Err is nil while the node is there with its data, or is being made. It does no I/O. It is
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
	return n.errLocked()
}

// LastLoss says why the node was gone last, although Close had not been called: its session is over, or it was deleted.
// It says what came first: a session that ends later, while the node could not be created again, did not take it. Right
// after a removal the client cannot know yet whether the session is over too: a later call does. It is zero if the node
// was never gone. It does not block, and a listener may call it.
//
// Curator has none.
func (n *PersistentNode) LastLoss() session.Explanation { return session.Explain(n.now().lost) }

func (n *PersistentNode) now() state {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state
}

func (n *PersistentNode) errLocked() error {
	switch {
	case n.closed:
		return ErrClosed
	case n.keeper == nil:
		return ErrNotStarted
	default:
		return n.state.reason
	}
}
