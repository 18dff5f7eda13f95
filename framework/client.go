package framework

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// A Client is a connection to a ZooKeeper ensemble that keeps itself alive: it reconnects, opens a new session when one
// is lost, retries operations, and tells its state. Its methods are safe for concurrent use.
//
// [Client.UsingNamespace] returns further Clients over the same connection.
//
// Curator: CuratorFramework.
type Client struct {
	core   *core
	prefix string // chroot and namespace: what stands in front of every path
	err    error  // what is wrong with the namespace
}

// NewClient makes a client and starts to connect. It does not wait: operations do, and [Client.BlockUntilConnected].
//
// connect names the servers as "host:port,host:port/chroot". Everything that is wrong with it or with the options is
// returned in one error, and nothing is started. A client must be closed.
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
	if h := c.cfg.logger.Handler(); h != slog.DiscardHandler {
		c.cfg.logger = slog.New(newLogQueue(&c.logs, h))
		c.panics = c.cfg.logger
	} else { // a bug is not to be kept from a user who did not ask for logs
		c.panics = slog.New(newLogQueue(&c.logs, slog.Default().Handler()))
	}
	c.cfg.dial, c.cfg.secure = c.guardDial(cfg.dial), c.guardSecure(cfg.secure)
	c.servers = &serverList{ask: c.guardServers(cfg.list), failed: c.failed, list: cfg.servers}
	c.route = transport.NewRoute(c.servers.current, transport.Lookup(c.guardLookup(cfg.lookup)))
	c.traces.limit, c.traces.dropped, c.traces.isolate = callbackLimit, c.tracesDropped, c.isolated("a function of a trace")
	c.listeners.isolate = c.isolated("a state listener")
	c.clock, c.support = clock.New(), transport.NewSupport(c.cfg.logger)
	c.life, c.kill = context.WithCancelCause(context.Background())
	c.root = &Client{core: c, prefix: cfg.chroot}
	for _, fn := range cfg.listeners {
		c.listeners.add(fn, StateLatent)
	}
	s, err := c.open(0)
	if err != nil {
		c.listeners.close()
		return nil, err
	}
	go c.run(s)
	if cfg.namespace != "" {
		return c.root.UsingNamespace(cfg.namespace), nil
	}
	return c.root, nil
}

// UsingNamespace returns a client over the same connection whose paths all lie below /namespace, counted from the
// chroot. An invalid namespace makes every operation fail with [ErrInvalidPath].
//
// Curator: CuratorFramework.usingNamespace().
func (c *Client) UsingNamespace(namespace string) *Client {
	return &Client{core: c.core, prefix: c.core.cfg.chroot + "/" + namespace, err: validateNamespace(namespace)}
}

// NonNamespaceView returns the client over the same connection whose paths begin at the chroot. It is the same pointer
// for all facades of one client, and so tells whether two of them share a connection.
//
// Curator: CuratorFramework.usingNamespace(null).
func (c *Client) NonNamespaceView() *Client { return c.core.root }

// Close ends the client: every wait returns [ErrClosed], every lease ends, and then the session is closed at the
// server, which removes its ephemeral nodes. It returns when all goroutines of the client have ended, except for
// callbacks: it does not wait for one that is running, and none begins after it has returned, except for one that was
// about to. For what the log handler and traces have still to be given it waits for at most a second; what is left then
// is dropped. It is the same to close any of the facades, and to do so again. Every callback may call it.
//
// A handshake that is under way is waited for as well, so that no session stays behind that it opens. The error says
// that no server confirmed the end of the session, within a second: its nodes then stay until it expires.
//
// Curator: CuratorFramework.close().
func (c *Client) Close() error {
	c.core.once.Do(func() {
		c.core.mu.Lock()
		c.core.closed = true
		c.core.announce()
		c.core.mu.Unlock()
		close(c.core.closing)
		c.core.kill(ErrClosed)
	})
	<-c.core.ended
	c.core.trees.close()
	c.core.chores.wait(nil)
	c.core.listeners.close()
	c.core.settle()
	return c.core.closeErr
}

// Report queues a call of a trace, for recipes: it is called on a goroutine of the client, after those that were queued
// before and one at a time, so that a function that blocks holds up other calls of traces and nothing else. If 1,024 of
// them wait, the call is dropped; how many were dropped is logged at Warn. It does not block.
func (c *Client) Report(call func()) { c.core.traces.push(call) }

// ReportAlways is [Client.Report] for a call that must not be dropped: for the end of a lease, for instance. There is
// no limit to how many wait while a function of the trace blocks.
func (c *Client) ReportAlways(call func()) { c.core.traces.pushAlways(call) }

// Logger returns the client's log, for recipes: what [WithLogger] has set, behind a queue, so that it never blocks.
// Without that option it discards everything.
func (c *Client) Logger() *slog.Logger { return c.core.cfg.logger }

// State returns the present state.
func (c *Client) State() State {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.core.state
}

// Err is nil as long as the client can be used, or may be again. After [Client.Close] it is [ErrClosed]. If the servers
// refuse the client's authentication, it says why ([ErrAuthRefused]), and every operation fails with the same error;
// listeners have heard of [StateLost] then, or are about to.
func (c *Client) Err() error {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	if c.core.closed {
		return ErrClosed
	}
	return c.core.refused
}

// Started reports whether the client has not been closed. It starts when it is made; whether it is connected, State
// says.
//
// Curator: CuratorFramework.isStarted(), getState().
func (c *Client) Started() bool {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return !c.core.closed
}

// Server is the server that the client is connected to, host:port as the connect string or [WithServers] names it; ""
// while it is not connected.
//
// Curator: CuratorZookeeperClient.getCurrentConnectionString(), which names all of them.
func (c *Client) Server() string {
	c.core.mu.Lock()
	s := c.core.session.Session()
	c.core.mu.Unlock()
	return s.Server()
}

// OnStateChange calls fn with the present state, if there has been one, and then with every change, in order. None is
// dropped, however slow fn is: while it blocks, changes wait for it without a limit to their number. It has a goroutine
// of its own and may use the client, Close included. stop ends the calls: none begins after it has returned, except for
// one that was about to, and it does not wait for one that is running.
//
// Curator: CuratorFramework.getConnectionStateListenable().addListener().
func (c *Client) OnStateChange(fn func(State)) (stop func()) {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.core.listeners.add(fn, c.core.state)
}

// BlockUntilConnected blocks until the client is connected, ctx is done, the client is closed, or the servers refuse
// its authentication.
//
// Errors: a [*ConnectError] that names every server and what it did, and unwraps to ctx's cause and ctx.Err(); ctx's
// cause alone if the client is connected, but ctx has ended; [ErrClosed]; [ErrAuthRefused].
//
// Curator: CuratorFramework.blockUntilConnected().
func (c *Client) BlockUntilConnected(ctx context.Context) error {
	_, err := c.core.attachedSession(ctx, nil)
	return err
}

// Session returns the present session. It blocks until there is one and it is connected, for at most the connection
// timeout.
//
// Errors: as [Client.BlockUntilConnected]; the connection timeout gives a [*ConnectError], too, or [ErrNoChroot] if a
// server says that the chroot does not exist.
func (c *Client) Session(ctx context.Context) (*Session, error) {
	return c.core.sessionWithin(ctx, c.core.cfg.connectionTimeout)
}

// sessionWithin is Session with another limit.
func (c *core) sessionWithin(ctx context.Context, limit time.Duration) (*Session, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	return c.attachedSession(ctx, timer.C)
}

// ConnectionTimeout is how long operations wait for a connection.
func (c *Client) ConnectionTimeout() time.Duration { return c.core.cfg.connectionTimeout }

// RetryPolicy is the policy by which operations are tried again, see [WithRetryPolicy].
func (c *Client) RetryPolicy() retry.Policy { return c.core.cfg.policy }

// Attach returns the value that hangs on the client by key, and makes it if there is none: state of a recipe that all
// facades of one client share, instead of a registry for the whole process. It goes with the client. See
// [session.Attachments.Attach].
func (c *Client) Attach(key any, create func() any) any {
	return c.core.attachments.Attach(key, create)
}

var _ io.Closer = (*Client)(nil)
