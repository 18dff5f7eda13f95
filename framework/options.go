package framework

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// Defaults. Curator's numbers, where it has them; its policy has no default, this is the one of its examples.
//
//	session timeout      60 s                 (servers grant at most 20 of their ticks, 40 s by default)
//	connection timeout   15 s
//	retry policy         ExponentialBackoff(1 s, 3)
//	error policy         SessionErrorPolicy
//	ACL                  world:anyone, everything
//	data of nodes        this machine's first address that is not the loopback, as text
//	logger               none
//	longest answer       16 MiB               (a listing of some hundred thousand lock nodes)
//	longest request      1 MiB less one byte  (ZooKeeper's jute.maxbuffer)
const (
	DefaultSessionTimeout    = 60 * time.Second
	DefaultConnectionTimeout = 15 * time.Second
	DefaultMaxAnswer         = 16 << 20
	DefaultMaxRequest        = 0xfffff
)

// An Option sets up a client. Options never fail: [NewClient] names everything that is wrong with them at once.
type Option func(*config)

// A DialFunc opens a connection to a server, as [net.Dialer.DialContext]. It should return when ctx ends: if it does
// not, the client goes on without it, and closes what it returns later. Close of the connection must end its reads and
// writes, and may take its time. The connection need not know deadlines.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// A LookupFunc finds the IP addresses of a host, as [net.Resolver.LookupHost]. It should return when ctx ends: if it
// does not, the client goes on without it, and does not look that host up anew before it has returned.
type LookupFunc func(ctx context.Context, host string) (ips []string, err error)

// WithSessionTimeout asks for a session that lives so long without contact. The server may grant another timeout.
//
// Curator: CuratorFrameworkFactory.Builder.sessionTimeoutMs().
func WithSessionTimeout(d time.Duration) Option { return func(c *config) { c.sessionTimeout = d } }

// WithConnectionTimeout bounds how long an operation waits for a connection, and how long Release waits for the server.
//
// Curator: CuratorFrameworkFactory.Builder.connectionTimeoutMs().
func WithConnectionTimeout(d time.Duration) Option {
	return func(c *config) { c.connectionTimeout = d }
}

// WithRetryPolicy sets when an operation whose connection broke is tried again. It bounds single operations, and
// how many terms of a LeaderSelector's Run may fail in a row; waits for a lock are bounded by their context alone.
//
// Curator: CuratorFrameworkFactory.Builder.retryPolicy().
func WithRetryPolicy(p retry.Policy) Option { return func(c *config) { c.policy = p } }

// WithMaxAnswer bounds the length of answers in bytes: of a node's data, or of a listing, of which each name takes its
// length and 4 bytes. The operation that a longer answer is for fails with [ErrTooLarge]. The rest of the answer is
// read past; if that takes longer than an eighth of the session timeout, the connection is given up for another.
//
// Curator: the system property jute.maxbuffer of the client.
func WithMaxAnswer(bytes int) Option { return func(c *config) { c.maxAnswer = bytes } }

// WithMaxRequest bounds the length of requests in bytes. A longer one fails with [ErrTooLarge], and is not sent: a
// server closes the connection on a request that is longer than its own system property jute.maxbuffer, which should be
// the same.
//
// Curator: the system property jute.maxbuffer of the servers.
func WithMaxRequest(bytes int) Option { return func(c *config) { c.maxRequest = bytes } }

// minSize is the least of both: paths and Stats must get through in any case.
const minSize = 4 << 10

// WithErrorPolicy sets whether leases end when the connection is lost, or only when the session may have ended.
//
// Curator: CuratorFrameworkFactory.Builder.connectionStateErrorPolicy().
func WithErrorPolicy(p ErrorPolicy) Option { return func(c *config) { c.errorPolicy = p } }

// WithNamespace puts every path of the client below /namespace. It has no leading slash. [Client.Create] makes the
// namespace's node, a container, if it is missing; a transaction does not.
//
// Curator: CuratorFrameworkFactory.Builder.namespace().
func WithNamespace(namespace string) Option {
	return func(c *config) {
		if err := validateNamespace(namespace); err != nil {
			c.problems = append(c.problems, err)
		}
		c.namespace = namespace
	}
}

// WithStateListener calls a listener with every state from the first on. See [Client.OnStateChange].
//
// Curator: CuratorFramework.getConnectionStateListenable().
func WithStateListener(fn func(State)) Option {
	return func(c *config) {
		if fn == nil {
			c.problems = append(c.problems, errors.New("state listener is nil"))
			return
		}
		c.listeners = append(c.listeners, fn)
	}
}

// WithAuthorization says on every connection who the client is: scheme "digest" with "user:password", for instance. It
// may be given several times.
//
// Curator: CuratorFrameworkFactory.Builder.authorization().
func WithAuthorization(scheme string, credentials []byte) Option {
	return func(c *config) {
		if scheme == "" {
			c.problems = append(c.problems, errors.New("authorization scheme is empty"))
		}
		c.auth = append(c.auth, transport.Auth{Scheme: scheme, Credentials: bytes.Clone(credentials)})
	}
}

// WithACLProvider sets the ACL of nodes that are created without one, parents of locks included. path includes the
// chroot and the namespace. An empty answer stands for world:anyone, everything.
//
// It must be safe for concurrent use. It runs on the goroutine of the operation that asks, outside of every mutex of
// the client, and may use the client. One that blocks holds up that operation, also beyond the end of its context, and,
// if enough acquires of one lock are in it, further acquires of that lock; it holds up no lease, no renewal and no
// Close.
//
// Curator: CuratorFrameworkFactory.Builder.aclProvider().
func WithACLProvider(acl func(path string) []zk.ACL) Option {
	return func(c *config) {
		if acl == nil {
			c.problems = append(c.problems, errors.New("ACL provider is nil"))
			return
		}
		c.acl = acl
	}
}

// WithLeaderRenewal has leases renewed by the word of the leader, which answers a sync alone, instead of by
// transactions, which a majority of the servers writes down. It saves four small transactions in each session timeout
// for each client that holds or waits, and leaves a gap in what [Session.ValidUntil] promises: a leader that was
// deposed by halves renews leases whose locks its successor gives to others. The package's documentation describes
// both. Watches are kept by syncs either way.
func WithLeaderRenewal() Option { return func(c *config) { c.leaderRenewal = true } }

// WithDialer replaces the dialer, which by default is a [net.Dialer]: for tests, proxies or in-memory servers. It gets
// servers as they stand in the connect string, unless there is [WithLookup], and is called anew for every attempt.
// WithTLS works on top of it.
func WithDialer(dial DialFunc) Option {
	return func(c *config) {
		if dial == nil {
			c.problems = append(c.problems, errors.New("dialer is nil"))
			return
		}
		c.dial = dial
	}
}

// WithLookup replaces how the hosts of the connect string are looked up, which by default [net.DefaultResolver] does. A
// host may have several addresses, such as a headless service of Kubernetes: all hosts are looked up anew at each
// attempt to connect, and of all addresses the one is tried that was not tried for the longest time. While a look-up
// fails, the answer of the last one that did not stands in for it. lookup must be safe for concurrent use. Without
// WithLookup, a client with a [WithDialer] of its own looks nothing up.
func WithLookup(lookup LookupFunc) Option {
	return func(c *config) {
		if lookup == nil {
			c.problems = append(c.problems, errors.New("look-up function is nil"))
			return
		}
		c.lookup = lookup
	}
}

// WithTLS speaks TLS with the servers. If tlsConfig names no server, the host of the connect string is verified.
func WithTLS(tlsConfig *tls.Config) Option {
	return func(c *config) {
		if tlsConfig == nil {
			c.problems = append(c.problems, errors.New("TLS configuration is nil"))
			return
		}
		c.tls = tlsConfig.Clone()
	}
}

// WithDefaultData sets the data of nodes that are created with nil data, lock nodes included. Without this option it is
// this machine's address; WithDefaultData(nil) leaves such nodes empty.
//
// Curator: CuratorFrameworkFactory.Builder.defaultData().
func WithDefaultData(data []byte) Option {
	return func(c *config) { c.data = append([]byte{}, data...) }
}

// WithLogger sets where the client logs: state changes at Info, losses of connections, sessions and leases and what is
// left to the background at Warn, details at Debug. Waits for locks are details; one that has lasted for a session
// timeout is logged at Warn, and at Info each time that it has doubled since, and when it ends. Errors are returned,
// not logged.
//
// The handler is called on a goroutine of its own, one record at a time, and may block or use the client: 1,024 records
// wait for it, and further ones are dropped and counted in a record at Warn. Records have the time of what they tell.
// When the handler is not enabled for a record at Debug, the client makes no further ones for a second.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) {
		if logger == nil {
			c.problems = append(c.problems, errors.New("logger is nil"))
			return
		}
		c.logger = logger
	}
}

// A Trace is a set of functions that a client calls. Those that are nil are not called. All traces of a client and its
// locks are called on one goroutine, one call at a time, after what they tell of. A function that blocks holds up other
// calls of traces and nothing else: 1,024 of them wait, and further ones are dropped and counted in a record of the
// log.
type Trace struct {
	// OrphanFound is called when the node of a create whose answer came to nobody has been found, and is going to be
	// removed.
	OrphanFound func(path string)
	// RemovalFailed is called when the server refuses to remove a node that must go.
	RemovalFailed func(path string, err error)
	// Operation is called at the end of each operation of the client. Its ctx is the one that the caller gave, which
	// may have ended: for what it carries, such as a span. A recursive delete is as many operations as it has requests;
	// requests of locks and other recipes are none.
	Operation func(ctx context.Context, o Operation)
	// State is called with every state, as listeners are, and with the server that the client is connected to, or was
	// last.
	State func(state State, server string, at time.Time)
}

// WithTrace reports what the client does and cleans up. Listeners hear of states sooner; locks have a trace of their
// own. Functions that are nil cost nothing.
func WithTrace(trace Trace) Option { return func(c *config) { c.trace = trace } }
