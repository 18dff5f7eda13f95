package framework

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// Defaults: Curator's numbers where it has them, and the policy of its examples.
//
//	session timeout      30 s                 (servers grant at most 20 of their ticks, 40 s by default)
//	connection timeout   15 s
//	retry policy         ExponentialBackoff(1 s, 3)
//	error policy         SessionErrorPolicy
//	ACL                  world:anyone, everything
//	data of nodes        this machine's first address that is not the loopback, as text
//	logger               none
//	longest answer       16 MiB               (a listing of some hundred thousand lock nodes)
//	longest request      1 MiB less one byte  (ZooKeeper's jute.maxbuffer)
const (
	// Less than servers grant by default: a client that asked for more would have its sessions shortened whenever
	// tickTime or maxSessionTimeout is lowered (transport/grant.go).
	defaultSessionTimeout    = 30 * time.Second
	defaultConnectionTimeout = 15 * time.Second
	defaultMaxResponse       = 16 << 20
	defaultMaxRequest        = 0xfffff
)

// An Option sets up a client. Options never fail: [NewClient] names everything that is wrong with them.
type Option func(*config)

// WithSessionTimeout asks for a session that lives so long without contact. The server may grant another timeout. Once
// a server has granted less, the client asks for no more than that until it is closed.
//
// Curator: CuratorFrameworkFactory.Builder.sessionTimeoutMs().
func WithSessionTimeout(d time.Duration) Option { return func(c *config) { c.sessionTimeout = d } }

// WithConnectionTimeout bounds how long an operation waits for a connection, and how long Release waits for the server.
//
// Curator: CuratorFrameworkFactory.Builder.connectionTimeoutMs().
func WithConnectionTimeout(d time.Duration) Option {
	return func(c *config) { c.connectionTimeout = d }
}

// WithRetryPolicy sets when an operation whose connection broke is tried again. It bounds single operations, and the
// terms of a LeaderSelector's Run that may fail in a row; only their context bounds waits for a lock.
//
// Curator: CuratorFrameworkFactory.Builder.retryPolicy().
func WithRetryPolicy(p retry.Policy) Option { return func(c *config) { c.policy = p } }

// WithMaxResponse bounds answers in bytes: a node's data, or a listing, of which each name takes its length and 4
// bytes. The operation of a longer answer fails with [ErrTooLarge]. The client reads past the rest; if that takes
// longer than an eighth of the session timeout, it gives the connection up for another.
//
// Curator: the system property jute.maxbuffer of the client.
func WithMaxResponse(bytes int) Option { return func(c *config) { c.maxResponse = bytes } }

// WithMaxRequest bounds requests in bytes. A longer one fails with [ErrTooLarge], and is not sent: a server closes the
// connection on a request beyond its own system property jute.maxbuffer, which should be the same.
//
// Curator: the system property jute.maxbuffer of the servers.
func WithMaxRequest(bytes int) Option { return func(c *config) { c.maxRequest = bytes } }

// minSize is the least of both: paths and Stats must get through.
const minSize = 4 << 10

// WithErrorPolicy sets when leases end: with the connection, or only when the session may have ended.
//
// Curator: CuratorFrameworkFactory.Builder.connectionStateErrorPolicy().
func WithErrorPolicy(p ErrorPolicy) Option { return func(c *config) { c.errorPolicy = p } }

// WithNamespace puts every path of the client below /namespace. It has no leading slash. [Client.Create] makes the
// namespace's node, a container, if it is missing; a transaction does not.
//
// Curator: CuratorFrameworkFactory.Builder.namespace().
func WithNamespace(namespace string) Option {
	return func(c *config) {
		c.problems = append(c.problems, validateNamespace(namespace))
		c.namespace = namespace
	}
}

// WithStateListener is [Client.OnStateChange] from the first state on.
//
// Curator: CuratorFramework.getConnectionStateListenable().
func WithStateListener(fn func(StateChange)) Option {
	return func(c *config) {
		c.refuse(fn == nil, "state listener is nil")
		c.listeners = append(c.listeners, fn)
	}
}

// WithAuthorization says on every connection who the client is: scheme "digest" with "user:password", for instance. It
// may be given several times. Empty credentials of "digest" are refused.
//
// Curator: CuratorFrameworkFactory.Builder.authorization().
func WithAuthorization(scheme string, credentials []byte) Option {
	return func(c *config) {
		c.problems = append(c.problems, authProblem(scheme, credentials))
		c.auth = append(c.auth, transport.NewAuth(scheme, credentials))
	}
}

// WithACLProvider sets the ACL of nodes that are created without one, parents of locks included. path includes chroot
// and namespace. An empty answer stands for world:anyone, everything.
//
// It must be safe for concurrent use. It runs on the operation's goroutine, outside of every mutex of the client, and
// may use the client. One that blocks holds up that operation, even beyond its context, and, if enough acquires of one
// lock are in it, others of that lock; it holds up no lease, no renewal and no Close.
//
// Curator: CuratorFrameworkFactory.Builder.aclProvider().
func WithACLProvider(acl func(path string) []zk.ACL) Option {
	return func(c *config) {
		c.refuse(acl == nil, "ACL provider is nil")
		c.acl = acl
	}
}

// WithSyncRenewal renews leases by syncs, which the leader answers alone, instead of transactions, which a majority
// of the servers writes down. It saves four small transactions in each session timeout for each client that holds or
// waits, and leaves a gap in what [Session.ValidUntil] promises: a leader that was deposed by halves renews leases
// whose locks its successor gives to others. framework/session/LEASES.md describes both.
func WithSyncRenewal() Option { return func(c *config) { c.syncRenewal = true } }

// WithDialer replaces the [net.Dialer], for tests, proxies or in-memory servers. Each attempt calls dial with a server
// as in the connect string, or with an address of [WithLookup]. WithTLS works on top of it.
//
// dial should return when ctx ends: otherwise the client goes on without it, and closes what it returns later. Close of
// the connection must end its reads and writes, and may block. The connection needs no deadlines.
//
// dial must be safe for concurrent use: a client asks servers for some things on a second connection, which it closes
// again.
func WithDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(c *config) {
		c.refuse(dial == nil, "dialer is nil")
		c.dial = dial
	}
}

// WithLookup replaces [net.DefaultResolver] for the hosts of the connect string. A host may have several addresses,
// as a headless service of Kubernetes has. Each attempt to connect looks all hosts up, and tries the address that was
// not tried for the longest time. Without this option, a client with a [WithDialer] looks nothing up.
//
// While a look-up fails or is late, its last answer is used. ctx ends with the client, or after a minute, or the
// connection timeout if that is longer. Up to two calls for a host may run at a time, so lookup must be safe for
// concurrent use.
func WithLookup(lookup func(ctx context.Context, host string) (ips []string, err error)) Option {
	return func(c *config) {
		c.refuse(lookup == nil, "look-up function is nil")
		c.lookup = lookup
	}
}

// WithTLS speaks TLS with the servers. If tlsConfig names no server, the host of the connect string is verified.
func WithTLS(tlsConfig *tls.Config) Option {
	return func(c *config) {
		c.refuse(tlsConfig == nil, "TLS configuration is nil")
		c.tls = tlsConfig.Clone()
	}
}

// WithDefaultData sets the data of nodes that are created with nil data, lock nodes included. The default is this
// machine's address; WithDefaultData(nil) leaves such nodes empty.
//
// Curator: CuratorFrameworkFactory.Builder.defaultData().
func WithDefaultData(data []byte) Option {
	return func(c *config) { c.data = append([]byte{}, data...) }
}

// WithLogger sets where the client logs: state changes at Info, losses of connections, sessions and leases and what is
// left to the background at Warn, details at Debug. What a recipe fails to do in the background is logged at Warn when
// it begins, and at Info when it is over. A failed attempt to connect is a detail, but the first at each
// server since the client was connected is logged at Warn. A wait for a lock is a detail; after a session timeout it is
// logged at Warn, and at Info whenever it has doubled, and when it ends. Errors are returned, not logged.
//
// The handler has a goroutine of its own, gets one record at a time, and may block or use the client: 1,024 records
// wait for it; a record at Warn counts those that were dropped. Records have the time of what they report. A handler
// that is not enabled for a record at Debug gets none for a second.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) {
		c.refuse(logger == nil, "logger is nil")
		c.logger = logger
	}
}

// A Trace is functions that a client calls; each may be nil. One goroutine calls all traces of a client and its locks,
// one at a time, after what they report. A function that blocks holds up other traces and nothing else: 1,024 calls
// wait; a record of the log counts those that were dropped.
type Trace struct {
	// OrphanFound reports that the node of a create whose answer was lost was found, and is going to be removed.
	OrphanFound func(path string)
	// RemovalFailed reports that the server refuses to remove a node that must go.
	RemovalFailed func(path string, err error)
	// Operation reports the end of an operation of the client. Its ctx is the caller's, which may have ended, for what
	// it carries, such as a span. Each request of a recursive delete is an operation; requests of locks and other
	// recipes are none.
	Operation func(ctx context.Context, o Operation)
	// State reports every change of the state. Its calls are never dropped.
	State func(change StateChange)
}

// WithTrace reports what the client does and cleans up. Listeners hear of states sooner; locks have a trace of their
// own.
func WithTrace(trace Trace) Option { return func(c *config) { c.trace = trace } }
