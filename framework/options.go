package framework

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
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
const (
	DefaultSessionTimeout    = 60 * time.Second
	DefaultConnectionTimeout = 15 * time.Second
)

// maxFrame is the longest answer that is believed: a listing of some hundred thousand lock nodes.
const maxFrame = 16 << 20

// maxRequest is ZooKeeper's default jute.maxbuffer. A server closes the connection on a longer request.
const maxRequest = 0xfffff

// An Option sets up a client. Options never fail: [NewClient] names everything that is wrong with them at once.
type Option func(*config)

// A DialFunc opens a connection to a server, as [net.Dialer.DialContext]. It must return when ctx ends.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

type config struct {
	servers           []string
	chroot            string
	namespace         string
	sessionTimeout    time.Duration
	connectionTimeout time.Duration
	policy            retry.Policy
	errorPolicy       ErrorPolicy
	acl               func(path string) []zk.ACL
	auth              []transport.Auth
	quorum            bool
	dial              DialFunc
	tls               *tls.Config
	data              []byte
	logger            *slog.Logger
	listeners         []func(State)
	trace             Trace
	problems          []error
}

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

// WithRetryPolicy sets when an operation whose connection broke is tried again. It bounds single operations; waits for a lock
// are bounded by their context alone.
//
// Curator: CuratorFrameworkFactory.Builder.retryPolicy().
func WithRetryPolicy(p retry.Policy) Option { return func(c *config) { c.policy = p } }

// WithErrorPolicy sets whether leases end when the connection is lost, or only when the session may have ended.
//
// Curator: CuratorFrameworkFactory.Builder.connectionStateErrorPolicy().
func WithErrorPolicy(p ErrorPolicy) Option { return func(c *config) { c.errorPolicy = p } }

// WithNamespace puts every path of the client below /namespace. It has no leading slash.
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

// WithStateListener is told of every state from the first on. See [Client.OnStateChange].
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

// WithAuthorization says on every connection who the client is: scheme "digest" with "user:password", for instance. It may be
// given several times.
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

// WithACLProvider sets the ACL of nodes that are created without one, parents of locks included. path is absolute. An empty
// answer stands for world:anyone, everything. It must be safe for concurrent use.
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

// WithQuorumRenewal has leases renewed by what a majority of the servers agrees to, instead of by the word of the leader. It
// closes the one gap that is known in what [Session.ValidUntil] promises (the package's documentation describes it), at the
// price of four small transactions in the log of every server for each session timeout while something is held or watched.
func WithQuorumRenewal() Option { return func(c *config) { c.quorum = true } }

// WithDialer replaces the dialer, which by default is a [net.Dialer]: for tests, proxies or in-memory servers. It gets servers
// as they stand in the connect string, and is called anew for every attempt. WithTLS works on top of it.
func WithDialer(dial DialFunc) Option {
	return func(c *config) {
		if dial == nil {
			c.problems = append(c.problems, errors.New("dialer is nil"))
			return
		}
		c.dial = dial
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

// WithDefaultData sets the data of nodes that are created without any.
//
// Curator: CuratorFrameworkFactory.Builder.defaultData().
func WithDefaultData(data []byte) Option {
	return func(c *config) { c.data = append([]byte{}, data...) }
}

// WithLogger sets where the client logs: state changes at Info, losses and what is left to the background at Warn, details at
// Debug. Errors are returned, not logged.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) {
		if logger == nil {
			c.problems = append(c.problems, errors.New("logger is nil"))
			return
		}
		c.logger = logger
	}
}

// A Trace is a set of functions that a client calls. Those that are nil are not called. They run on goroutines of the client, and
// must not block.
type Trace struct {
	// OrphanFound is called when the node of a create whose answer came to nobody has been found, and is going to be removed.
	OrphanFound func(path string)
	// RemovalFailed is called when the server refuses to remove a node that must go.
	RemovalFailed func(path string, err error)
}

// WithTrace has the client tell what it cleans up. States are told to listeners; locks have a trace of their own.
func WithTrace(trace Trace) Option { return func(c *config) { c.trace = trace } }

func newConfig(connect string, opts []Option) (config, error) {
	c := config{
		sessionTimeout:    DefaultSessionTimeout,
		connectionTimeout: DefaultConnectionTimeout,
		policy:            retry.ExponentialBackoff(time.Second, 3),
		acl:               func(string) []zk.ACL { return nil },
		dial:              new(net.Dialer).DialContext,
		logger:            slog.New(slog.DiscardHandler),
	}
	for _, opt := range opts {
		if opt == nil {
			c.problems = append(c.problems, errors.New("an option is nil"))
			continue
		}
		opt(&c)
	}
	servers, chroot, problems := parseConnectString(connect)
	c.servers, c.chroot = servers, chroot
	c.problems = append(problems, c.problems...)
	c.validate()
	if c.data == nil {
		c.data = localAddress()
	}
	if c.tls != nil {
		c.dial = dialTLS(c.dial, c.tls)
	}
	if err := errors.Join(c.problems...); err != nil {
		return config{}, fmt.Errorf("framework: invalid client: %w", err)
	}
	return c, nil
}

func (c *config) validate() {
	if c.sessionTimeout <= 0 {
		c.problems = append(c.problems, fmt.Errorf("session timeout must be positive, is %v", c.sessionTimeout))
	} else if c.sessionTimeout < time.Millisecond || c.sessionTimeout.Milliseconds() > 1<<31-1 {
		c.problems = append(c.problems, fmt.Errorf("session timeout %v is not between 1 ms and 2³¹-1 ms", c.sessionTimeout))
	}
	if c.connectionTimeout <= 0 {
		c.problems = append(c.problems, fmt.Errorf("connection timeout must be positive, is %v", c.connectionTimeout))
	}
	if err := retry.Validate(c.policy); err != nil {
		c.problems = append(c.problems, err)
	}
	if c.errorPolicy != SessionErrorPolicy && c.errorPolicy != StandardErrorPolicy {
		c.problems = append(c.problems, fmt.Errorf("unknown error policy %d", c.errorPolicy))
	}
}

// attemptTimeout bounds one dial and handshake: silent servers must leave time to try the others within the session.
func (c *config) attemptTimeout() time.Duration {
	fair := c.sessionTimeout / time.Duration(len(c.servers)+1)
	return min(max(fair, 50*time.Millisecond), c.connectionTimeout)
}

func validateNamespace(namespace string) error {
	if namespace == "" {
		return fmt.Errorf("namespace %q: %w: empty", namespace, ErrInvalidPath)
	}
	if problem := pathProblem("/" + namespace); problem != "" {
		return fmt.Errorf("namespace %q: %w: %s", namespace, ErrInvalidPath, problem)
	}
	return nil
}

// localAddress is what Curator writes into nodes by default, for people who look at them. No name is resolved for it.
func localAddress() []byte {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return []byte{}
	}
	for _, addr := range addrs {
		if ip, ok := addr.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			return []byte(ip.IP.String())
		}
	}
	return []byte("127.0.0.1")
}

func dialTLS(dial DialFunc, base *tls.Config) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		cfg := base
		if cfg.ServerName == "" {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			cfg = base.Clone()
			cfg.ServerName = host
		}
		raw, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		conn := tls.Client(raw, cfg)
		if err := conn.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, raw.Close())
		}
		return conn, nil
	}
}
