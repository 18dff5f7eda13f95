package framework

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/cgroup"
	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// A Client is a connection to a ZooKeeper ensemble that keeps itself alive: it reconnects, replaces lost sessions,
// retries operations, and reports its state. Its methods are safe for concurrent use.
//
// [Client.UsingNamespace] returns further Clients over the same connection.
//
// Curator: CuratorFramework.
type Client struct {
	core   *core
	prefix string // begins every path: chroot and namespace
	err    error  // why the namespace is refused
}

// NewClient makes a client and starts to connect. Operations wait for that, and [Client.BlockUntilConnected].
//
// connect names the servers as "host:port,host:port/chroot", or the name of their SRV records, as in
// "dns-srv://_client._tcp.zk.example.org/chroot". These are looked up by [net.DefaultResolver] at each attempt to
// connect, as the list of [WithServers]; priorities and weights do not count. One error names everything that is wrong
// with connect or the options; nothing is started then. A client must be closed.
//
// Curator: CuratorFrameworkFactory.newClient() and CuratorFramework.start().
func NewClient(connect string, opts ...Option) (*Client, error) {
	cfg, err := newConfig(connect, opts)
	if err != nil {
		return nil, err
	}
	c := &core{
		cfg: cfg, closing: make(chan struct{}), ended: make(chan struct{}),
		failures: map[string]error{}, changed: make(chan struct{}),
	}
	c.queueCallbacks()
	c.cfg.dial, c.cfg.secure = c.guardDial(cfg.dial), c.guardSecure(cfg.secure)
	c.servers = &serverList{ask: c.guardServers(cfg.list), failed: c.failed, list: cfg.servers}
	c.route = transport.NewRoute(c.servers.current, transport.Lookup(c.guardLookup(cfg.lookup)))
	c.clock, c.support = clock.New(), transport.NewSupport(c.cfg.logger)
	c.ring, c.meter = cause.New(c.clock.Now()), cgroup.Find()
	c.life, c.kill = context.WithCancelCause(context.Background())
	c.root = &Client{core: c, prefix: cfg.chroot}
	for _, fn := range cfg.listeners {
		c.listen(fn)
	}
	s, err := c.open(0)
	if err != nil {
		c.calls.listeners.Close()
		return nil, err
	}
	go c.run(s)
	if cfg.namespace != "" {
		return c.root.UsingNamespace(cfg.namespace), nil
	}
	return c.root, nil
}

// UsingNamespace returns a client over the same connection whose paths lie below /namespace, within the chroot. An
// invalid namespace makes every operation fail with [ErrInvalidPath].
//
// Curator: CuratorFramework.usingNamespace().
func (c *Client) UsingNamespace(namespace string) *Client {
	return &Client{core: c.core, prefix: c.core.cfg.chroot + "/" + namespace, err: validateNamespace(namespace)}
}

// NonNamespaceView returns the client over the same connection whose paths begin at the chroot: the same pointer for
// all facades that share a connection.
//
// Curator: CuratorFramework.usingNamespace(null).
func (c *Client) NonNamespaceView() *Client { return c.core.root }

// Close ends the client. Every wait returns [ErrClosed], every lease ends, and then the server closes the session with
// its ephemeral nodes. Closing any facade closes all. Close may be called again, and by every callback.
//
// Close returns when all goroutines of the client have ended, with these exceptions:
//
//   - It does not wait for a callback that is running, or about to run.
//   - The log handler and traces get a second for what waits for them; the rest is dropped.
//   - Look-ups of SRV records end at their deadline, because Go's resolver heeds nothing else.
//   - A dialer, look-up, list of servers or SASL mechanism may ignore the end of its ctx.
//
// Close also waits for a handshake under way, whose session would stay behind. Its error says that no server confirmed
// the session's end within a second, so that its nodes stay until it expires.
//
// Curator: CuratorFramework.close().
func (c *Client) Close() error {
	c.core.once.Do(func() {
		c.core.mu.Lock()
		c.core.closed = true
		c.core.announceLocked()
		c.core.mu.Unlock()
		close(c.core.closing)
		c.core.kill(ErrClosed)
	})
	<-c.core.ended
	c.core.trees.close()
	c.core.calls.close()
	return c.core.closeErr
}

// QueueTrace queues a call of a trace, for recipes, without blocking: a goroutine of the client calls one at a time, in
// their order, and one that blocks holds up other traces and nothing else. If 1,024 wait, the call is dropped; the log
// counts such at Warn. It panics if call is nil.
func (c *Client) QueueTrace(call func()) {
	mustCall("QueueTrace", call != nil)
	c.core.calls.traces.Push(call)
}

// QueueTraceAlways is [Client.QueueTrace] for calls that are never dropped, such as the end of a lease. Their number
// has no limit.
func (c *Client) QueueTraceAlways(call func()) {
	mustCall("QueueTraceAlways", call != nil)
	c.core.calls.traces.PushAlways(call)
}

// mustCall refuses a nil function where there is no error to refuse it by. Later, on a goroutine of the client, a nil
// call would be the program's end, or that of the calls behind it.
func mustCall(op string, isFunction bool) {
	if !isFunction {
		panic("framework: " + op + ": the function is nil")
	}
}

// Logger returns the client's log, for recipes: that of [WithLogger], behind a queue, so that it never blocks. Without
// that option it discards everything.
func (c *Client) Logger() *slog.Logger { return c.core.cfg.logger }

// State returns the present state.
func (c *Client) State() State {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.core.change.State
}

// Err is nil while the client can be used, or may be again. After [Client.Close] it is [ErrClosed]. If the servers
// refuse the client's authentication, it says why ([ErrAuthRefused]), and every operation fails with it; listeners hear
// [StateLost].
//
// Curator: CuratorFramework.isStarted(), getState().
func (c *Client) Err() error {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	if c.core.closed {
		return ErrClosed
	}
	return c.core.refused
}

// Server is the server of the connection, host:port as the connect string or [WithServers] names it; "" without one.
//
// Curator: CuratorZookeeperClient.getCurrentConnectionString(), which names all of them.
func (c *Client) Server() string {
	c.core.mu.Lock()
	s := c.core.session.Session()
	c.core.mu.Unlock()
	return s.Server()
}

// OnStateChange calls fn with the last change, if there has been one, and then with every change, in order. None is
// dropped: while fn blocks, any number of changes wait. fn has a goroutine of its own and may use the client, Close
// included. stop ends the calls, without waiting for one that is running: none begins after it but one that was about
// to. OnStateChange panics if fn is nil.
//
// Curator: CuratorFramework.getConnectionStateListenable().addListener().
func (c *Client) OnStateChange(fn func(StateChange)) (stop func()) {
	mustCall("OnStateChange", fn != nil)
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	if c.core.change.State == StateLatent {
		return c.core.listen(fn)
	}
	return c.core.listen(fn, c.core.change)
}

// BlockUntilConnected blocks until the client is connected or closed, ctx is done, or the servers refuse its
// authentication.
//
// Errors: a [*ConnectError], which unwraps to ctx's cause and ctx.Err(); ctx's cause alone if the client is connected,
// but ctx has ended; [ErrClosed]; [ErrAuthRefused].
//
// Curator: CuratorFramework.blockUntilConnected().
func (c *Client) BlockUntilConnected(ctx context.Context) error {
	_, err := c.core.attachedSession(ctx, noLimit)
	return err
}

// Session returns the present session. It blocks until that is connected, for at most the connection timeout.
//
// Errors: as [Client.BlockUntilConnected]; after the connection timeout a [*ConnectError], too, or [ErrNoChroot] if a
// server says so.
func (c *Client) Session(ctx context.Context) (Session, error) {
	s, err := c.core.attachedSession(ctx, c.core.cfg.connectionTimeout)
	if err != nil {
		return nil, err // not a typed nil *live.Session
	}
	return s, nil
}

// ConnectionTimeout is how long operations wait for a connection.
func (c *Client) ConnectionTimeout() time.Duration { return c.core.cfg.connectionTimeout }

// RetryPolicy returns the policy of [WithRetryPolicy].
func (c *Client) RetryPolicy() retry.Policy { return c.core.cfg.policy }

// Attachments are what recipes hang on the client by [session.Attach]: all facades share them.
func (c *Client) Attachments() *session.Attachments { return &c.core.attachments }

var _ io.Closer = (*Client)(nil)
