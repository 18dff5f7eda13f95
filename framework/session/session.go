package session

import (
	"context"
	"iter"
	"time"

	"github.com/go-zookeeper/zk"
)

// A Session is one incarnation of the client at the ensemble: it owns ephemeral nodes, and ends with them. A client has
// one after the other. Recipes work on a Session, not on the Client, so that the next session finishes nothing by
// accident.
//
// Its methods are safe for concurrent use and take absolute paths, see the client's AbsolutePath. Only this module
// implements Session, and any release may add methods to it.
type Session interface {
	// ID is the session's number at the servers, and its nodes' EphemeralOwner.
	ID() int64
	// Done is closed when the session is over. Every lease has ended by then.
	Done() <-chan struct{}
	// Err is nil while the session may live; then [ErrSessionLost], with the reason, or [ErrClosed].
	Err() error
	// Timeout is the session timeout that the servers have granted; 0 before the first connection.
	Timeout() time.Duration
	// ValidUntil is when leases end without a renewal, by the ordinary clock: the servers cannot end the session
	// earlier.
	ValidUntil() time.Time
	// SinceLeaderContact is the time since the newest request was sent that the leader has answered.
	SinceLeaderContact() time.Duration
	// LastZxid is the zxid of the newest transaction that an answer has shown to the client, in this session or an
	// earlier one; 0 before the first. Watch events do not count. The program goes on after that transaction was
	// executed. See locks.AcquireEnd.
	LastZxid() int64
	// EnsembleGeneration is how often the client had gone on with a younger ensemble when it opened this session. Zxids
	// can be compared only within one generation.
	EnsembleGeneration() int
	// Connected reports whether the session has a connection now.
	Connected() bool
	// Server is the connection's server, host:port as the connect string or the list of servers names it; "" without
	// one.
	Server() string
	// Attachments are what recipes hang on the session by [Attach].
	Attachments() *Attachments

	Validity
	Nodes
	Watches
	Reads
}

// Validity is the part of a [Session] that says until when the session can own anything.
type Validity interface {
	// BlockUntilValid blocks until the session is connected and valid, so that a Bind can begin, or over, or ctx is
	// done. The error is the session's or ctx's cause.
	BlockUntilValid(ctx context.Context) error
	// StartRenewal renews the session, as a binding does, until stop is called, so that a waiting contender can begin a
	// binding at any moment. A wait for anything else does not need it. stop must be called once. Neither blocks.
	StartRenewal() (stop func())
	// Bind begins a binding. If the session ceases to be valid, onEnd is called once with the cause: [ErrNotRenewed],
	// [ErrSuspended], [ErrSessionLost] or [ErrClosed]. It runs on any goroutine, before the session's Done is closed
	// and listeners hear of LOST, and must not block, because the session's other bindings wait for their end. cleanup,
	// which may be nil, is called once after the ends of all bindings and the listeners, on a goroutine of the client,
	// and must not block either.
	//
	// Bind fails, with one of these errors, if the session is not valid: check and beginning are one step. It also
	// refuses a nil onEnd.
	Bind(onEnd func(cause error), cleanup func()) (Binding, error)
}

// Nodes is the part of a [Session] that creates and removes the nodes of recipes. A node and its parents get the ACL
// that the client has for their paths; nil data stand for the client's default.
type Nodes interface {
	// CreateProtected creates an ephemeral sequential node called name, with a GUID in front, under dir, and lists dir,
	// in one round trip. Missing parents become containers.
	//
	// It blocks until the server has answered, however often the connection breaks, and finds a node whose creation was
	// not answered by its GUID. If a server executes that creation late, within four session timeouts, the session
	// finds and removes the node. ctx and the end of the session end the wait; a node that was created nevertheless is
	// then removed in the background.
	//
	// Errors: the server's (zk.ErrNoAuth, zk.ErrNoChildrenForEphemerals if dir is ephemeral, …), [ErrTooLarge], a
	// [*DisconnectError], the session's Err, or ctx's cause. No node remains, except, until the session ends, one whose
	// answer was lost where the client may create but not list (a warning is logged), and one that a server creates
	// later than that.
	//
	// Curator: CreateBuilder.creatingParentContainersIfNeeded().withProtection().
	CreateProtected(ctx context.Context, dir, name string, data []byte) (CreatedNode, error)
	// CreateProtectedWithoutListing is CreateProtected without the listing, for observers of dir. CreatedNode.Children
	// is nil, unless the answer was lost and the node had to be looked for.
	CreateProtectedWithoutListing(ctx context.Context, dir, name string, data []byte) (CreatedNode, error)
	// CreateIfExists creates an ephemeral node called name, with a GUID in front, under dir, and returns its path, if
	// the node guard exists, in one transaction. Otherwise it is like CreateProtected, but needs no right to read dir.
	//
	// Errors: zk.ErrNoNode without guard, and those of CreateProtected. No node remains.
	CreateIfExists(ctx context.Context, guard, dir, name string, data []byte) (path string, err error)
	// CreateAt creates an ephemeral node at path itself, for a name that others look for. An existing node of this
	// session counts as created, with the data that it has. replaced, unless nil, is the Stat of a node at path that is
	// deleted in the same transaction, if it still has that version. Missing parents become containers.
	//
	// It blocks until the server has answered, however often the connection breaks, and first until a RemoveAt of the
	// same path has ended. A transaction that cannot be sent at once, or whose answer was lost, is sent only if
	// replaced is still there. ctx and the end of the session end the wait. After their errors, and after a
	// DisconnectError, a node of this session at path is removed in the background, as by RemoveAt.
	//
	// Errors: the server's (zk.ErrNodeExists if the node belongs to another; with replaced zk.ErrBadVersion,
	// zk.ErrNoNode and zk.ErrNotEmpty; zk.ErrNoAuth, zk.ErrNoChildrenForEphemerals, …), [ErrTooLarge], a
	// [*DisconnectError], the session's Err, or ctx's cause. A caller that gives up after a server's error calls
	// RemoveAt, because an earlier try may have been executed.
	//
	// Requests name a node only by path and version. So a node of the same version that another client creates in the
	// place of replaced, before a server executes the transaction, perhaps late, after a lost connection, is deleted. A
	// server that is behind shows nodes that are gone, so call Sync before the read that yields replaced.
	//
	// A session has one creator for each path at a time.
	//
	// Curator has none. Its nodes of known names belong to the client.
	CreateAt(ctx context.Context, path string, data []byte, replaced *zk.Stat) error
	// RemoveAt deletes the node of CreateAt, if it still belongs to this session, for sure, in the background if need
	// be, until the session is over. A node that a server creates late is removed for four session timeouts. The client
	// must be allowed to read the node. It does not block.
	//
	// It checks the owner before each delete, but ZooKeeper cannot make a delete conditional on the owner. So if
	// another client deletes the session's node, and one of the same version is created, between the check and a
	// delete, which a server may execute late after a lost connection, that one is deleted.
	RemoveAt(path string) Removal
	// Set replaces a node's data if it has the given version, -1 for any. It asks once, and does not retry: after
	// ErrConnectionLost it may have been executed. A Set that succeeds was executed while the session lived.
	//
	// Errors: zk.ErrNoNode, zk.ErrBadVersion, zk.ErrNoAuth, ErrTooLarge, ErrConnectionLost, the session's, or ctx's
	// cause.
	Set(ctx context.Context, path string, data []byte, version int32) (*zk.Stat, error)
	// Remove deletes one of the session's ephemeral nodes for sure, in the background if need be, until the session is
	// over. It goes ahead of all later requests, so a listing that is sent after it lacks the node. It does not block.
	//
	// Curator: DeleteBuilder.guaranteed().
	Remove(path string) Removal
	// NodeLost is for a recipe that has just heard that one of the session's ephemeral nodes is gone. [Explain] of its
	// result says whether the node was removed, or went with the session. It does not block.
	//
	// Curator has none.
	NodeLost() NodeLoss
}

// Watches is the part of a [Session] that shows what others do. Its methods do not block, and panic on a nil wake,
// which is called when [Watch.View] may return something new: see "Callbacks" in the package's documentation. Only
// persistent watches hear of a lost connection. A node that is missing when the watch is set is [StatusGone].
type Watches interface {
	// WatchData watches a node's data and existence, or only its existence if this client may not read it. A node that
	// is gone stays gone for its watchers, even if it is created again.
	WatchData(path string, wake func()) Watch
	// WatchDataDeferred is WatchData, but sets the watch only after some 50 ms, so it costs nothing if it ends before.
	WatchDataDeferred(path string, wake func()) Watch
	// WatchDataSince watches the data and existence of several nodes by a request that reads none of them. The caller
	// knows their data as of one transaction, whose zxid an answer to this session has shown, or needs no older news. A
	// node that has not changed since is [StatusPresent] without Stat, Data and wake. A node that has changed since is
	// read, as by WatchData.
	//
	// So is each node that is not Readable, and all nodes if the server is not known to accept the request (ClickHouse
	// Keeper before 26.7), or once the client may not read such a node or has lost an event of one. Nodes whose paths
	// don't fit into one request (WithMaxRequest) take several. The watches have the order of the nodes.
	WatchDataSince(zxid int64, nodes ...WatchedNode) []Watch
	// WatchDataPersistent is WatchData that sees a node again that is created again. The node must be readable. A lost
	// connection also calls wake, and View is [StatusUnknown] until the answer on the next one.
	WatchDataPersistent(path string, wake func()) Watch
	// WatchChildren watches the names of a node's children, like WatchData.
	WatchChildren(path string, wake func()) Watch
	// WatchChildrenDeferred is WatchChildren, deferred as WatchDataDeferred is.
	WatchChildrenDeferred(path string, wake func()) Watch
	// WatchChildrenPersistent is to WatchChildren what WatchDataPersistent is to WatchData. View must be called after
	// each wake, because it sets the next watch. A node that may not be read is [StatusFailed].
	WatchChildrenPersistent(path string, wake func()) Watch
	// WatchWhileConnected watches the data and existence of a node, like WatchDataPersistent, or with ReadChildren its
	// children, like WatchChildren, until the connection is lost. View is then [StatusFailed] with [ErrConnectionLost],
	// as it is without a connection. It is for a recipe that has many watches, sets them again a few at a time, and
	// looks for lost events by itself: the session does neither.
	WatchWhileConnected(path string, part NodePart, wake func()) Watch
	// WatchTree reports the changes of a node, which need not exist, and of everything below it to an observer, until
	// UnwatchTree or the end of the session. All observers of a path share one watch at the server.
	//
	// A server before 3.6 closes the connection on such watches. So the client first asks each server once, on a
	// separate connection, and again while it cannot be asked. Until the answer the tree is not watched. Where one
	// address leads to servers of several versions, another server may answer, and an older one costs the connection
	// after all.
	//
	// Errors: [ErrUnsupported] if the server is known to lack such watches. Otherwise the observer's Refused reports
	// that later, or that the server could not be asked within the connection timeout.
	WatchTree(path string, o TreeObserver) error
	// UnwatchTree ends WatchTree. The observer gets no call from then on, but may be in one.
	UnwatchTree(path string, o TreeObserver)
	// ObserveChildren gives a directory an observer, until UnobserveChildren. It asks for nothing by itself.
	ObserveChildren(dir string, o ChildObserver)
	// UnobserveChildren ends ObserveChildren.
	UnobserveChildren(dir string, o ChildObserver)
}

// Reads is the part of a [Session] that asks the server once. Each method blocks until the server has answered or ctx
// is done, and does not retry.
//
// Errors: the server's, [ErrConnectionLost], the session's, or ctx's cause.
type Reads interface {
	// Children returns the names of a node's children, unsorted, and the node's Stat.
	Children(ctx context.Context, path string) ([]string, *zk.Stat, error)
	// Exists returns a node's Stat, or nil if there is no node.
	Exists(ctx context.Context, path string) (*zk.Stat, error)
	// Get reads a node's data and Stat.
	Get(ctx context.Context, path string) ([]byte, *zk.Stat, error)
	// Sync lets the server at hand catch up with the leader.
	Sync(ctx context.Context, path string) error
	// List returns the names of a node's children, unsorted, as of some moment after the call. Unlike Children it waits
	// until the session is ready for a binding, and asks again whenever the connection breaks, or the server is
	// overloaded.
	//
	// Errors: the server's (zk.ErrNoNode, …), the session's, or ctx's cause.
	List(ctx context.Context, path string) ([]string, error)
	// ReadMany reads one part of any number of nodes, and yields each in the order of paths. A missing node has the Err
	// zk.ErrNoNode, and one that may not be read zk.ErrNoAuth, with its Stat if data were asked for and the server
	// shows that.
	//
	// It is for occasional reads: all members of a group, the nodes of a cache. All ReadManys of a session together
	// have at most 32 reads under way, and fewer where answers take long, so that a renewal or another request waits
	// only behind those. They take turns, read by read. At most 32 answers wait for a slow loop, which delays no other.
	// ReadMany has no goroutine; a loop that ends early gives up what is under way.
	//
	// After a lost connection ReadMany goes on with what was not answered, and waits for the next one for at most the
	// client's connection timeout. paths must not change while the loop runs.
	//
	// An error ends it, and comes with no node: a [*ConnectError] if there was no next connection in that time, the
	// session's, or ctx's cause. [ShouldStartOver] is true of the first, and of [ErrSessionLost], so a recipe reads the
	// rest in the next session. An unknown part is also an error. Every answer is a NodeRead, except that an overloaded
	// server is asked again.
	ReadMany(ctx context.Context, paths []string, part NodePart) iter.Seq2[NodeRead, error]
}
