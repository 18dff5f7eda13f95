package framework

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A Client is a connection to a ZooKeeper ensemble that keeps itself alive: it reconnects, opens a new session when one is
// lost, retries operations, and tells its state. Its methods are safe for concurrent use.
//
// [Client.UsingNamespace] returns further Clients over the same connection.
//
// Curator: CuratorFramework.
type Client struct {
	core   *core
	prefix string // chroot and namespace: what stands in front of every path
	err    error  // what is wrong with the namespace
}

// core is what all facades of one client share.
type core struct {
	cfg       config
	root      *Client
	listeners listeners
	closing   chan struct{}   // closed by Close
	life      context.Context //nolint:containedctx // ends with ErrClosed when Close is called: no operation outlives it
	kill      context.CancelCauseFunc
	once      sync.Once
	ended     chan struct{} // closed when the last session has been closed
	closeErr  error         // written before ended is closed

	mu       sync.Mutex
	state    State
	session  *Session         // the newest
	closed   bool             // set by Close
	refused  error            // the servers will never take this client
	failures map[string]error // last failure of each server since the last connection
	changed  chan struct{}    // closed, and replaced, when any of these changes
	carried  leftovers        // for the next session
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

// UsingNamespace returns a client over the same connection whose paths all lie below /namespace, counted from the chroot. An
// invalid namespace makes every operation fail with [ErrInvalidPath].
//
// Curator: CuratorFramework.usingNamespace().
func (c *Client) UsingNamespace(namespace string) *Client {
	return &Client{core: c.core, prefix: c.core.cfg.chroot + "/" + namespace, err: validateNamespace(namespace)}
}

// NonNamespaceView returns the client over the same connection whose paths begin at the chroot. It is the same pointer for
// all facades of one client, and so tells whether two of them share a connection.
//
// Curator: CuratorFramework.usingNamespace(null).
func (c *Client) NonNamespaceView() *Client { return c.core.root }

// Close ends the client: every wait returns [ErrClosed], every lease ends, and then the session is closed at the server, which
// removes its ephemeral nodes. It returns when all goroutines of the client have ended; called from a listener, it does not
// wait for that listener. It is the same to close any of the facades, and to do so again.
//
// The error says that no server confirmed the end of the session, within a second: its nodes then stay until it expires.
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
	c.core.listeners.close()
	return c.core.closeErr
}

// State returns the present state.
func (c *Client) State() State {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.core.state
}

// OnStateChange calls fn with the present state, if there has been one, and then with every change, in order. None is
// dropped, however slow fn is; it has a goroutine of its own and may use the client, Close included. stop ends the calls; one
// may be running when it returns.
//
// Curator: CuratorFramework.getConnectionStateListenable().addListener().
func (c *Client) OnStateChange(fn func(State)) (stop func()) {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.core.listeners.add(fn, c.core.state)
}

// BlockUntilConnected blocks until the client is connected, ctx is done, the client is closed, or the servers refuse it for
// good.
//
// Errors: a [*ConnectError] that names every server and what it did, and unwraps to ctx's cause; [ErrClosed];
// [ErrAuthRefused].
//
// Curator: CuratorFramework.blockUntilConnected().
func (c *Client) BlockUntilConnected(ctx context.Context) error {
	_, err := c.core.attachedSession(ctx, nil)
	return err
}

// Session returns the present session. It blocks until there is one and it is connected, for at most the connection timeout.
//
// Errors: as [Client.BlockUntilConnected]; the connection timeout gives a [*ConnectError], too.
func (c *Client) Session(ctx context.Context) (*Session, error) {
	timer := time.NewTimer(c.core.cfg.connectionTimeout)
	defer timer.Stop()
	return c.core.attachedSession(ctx, timer.C)
}

// ConnectionTimeout is how long operations wait for a connection.
func (c *Client) ConnectionTimeout() time.Duration { return c.core.cfg.connectionTimeout }

// attachedSession waits for a session that is connected.
func (c *core) attachedSession(ctx context.Context, timeout <-chan time.Time) (*Session, error) {
	for {
		c.mu.Lock()
		s, state, refused, closed, changed := c.session, c.state, c.refused, c.closed, c.changed
		c.mu.Unlock()
		switch {
		case closed:
			return nil, ErrClosed
		case ctx.Err() != nil:
			return nil, c.connectError(context.Cause(ctx))
		case refused != nil:
			return nil, refused
		case state.IsConnected() && s.isAttached(): // both: whoever gets the session finds the state told
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-timeout:
			return nil, c.connectError(fmt.Errorf("%w of %v", errConnectionTimeout, c.cfg.connectionTimeout))
		}
	}
}

func (c *core) connectError(cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	servers := maps.Clone(c.failures)
	for _, server := range c.cfg.servers {
		if servers[server] == nil {
			servers[server] = errors.New("no answer yet")
		}
	}
	return &ConnectError{Servers: servers, Cause: cause}
}

// announce wakes everybody who waits for a change. mu is held.
func (c *core) announce() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// open makes the next session, which begins to connect.
func (c *core) open(zxid int64) (*Session, error) {
	s := newSession(c)
	s.transport = transport.New(transport.Config{
		Servers: c.cfg.servers, Dial: c.cfg.dial, Auth: c.cfg.auth,
		SessionTimeout: c.cfg.sessionTimeout, AttemptTimeout: c.cfg.attemptTimeout(),
		LastZxid: zxid, Quorum: c.cfg.quorum, MaxFrame: maxFrame, Logger: c.cfg.logger, Events: s.events(),
	})
	c.mu.Lock()
	c.session = s
	s.adopt(c.carried)
	c.carried = leftovers{}
	c.mu.Unlock()
	return s, s.transport.Start()
}

// run is the client's goroutine: it sees one session after the other to its end.
func (c *core) run(s *Session) {
	defer close(c.ended)
	for {
		s.guard(c.closing)
		told := s.transport.Close(c.patience())
		if c.refusal() != nil {
			<-c.closing // no server will take the next session either
			return
		}
		select {
		case <-c.closing:
			if s.ID() != 0 && !told {
				c.closeErr = fmt.Errorf("framework: session %#x was not closed by a server: its nodes stay until it expires", s.ID())
			}
			return
		default:
		}
		next, err := c.open(s.transport.LastZxid())
		if err != nil { // what was right the first time is right again
			c.refuse(err)
			<-c.closing
			return
		}
		s = next
	}
}

func (c *core) refusal() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

// patience is how long Close waits for a server to end the session. A session that is over has nothing to wait for.
func (c *core) patience() time.Duration {
	select {
	case <-c.closing:
		return min(time.Second, c.cfg.connectionTimeout)
	default:
		return 0
	}
}

// move feeds the state machine. Listeners hear of changes in the order of the calls.
func (c *core) move(s *Session, e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The reader and the guard may come here in another order than that in which they changed the session.
	if e != eventOver && s.Err() != nil {
		return
	}
	if e == eventAttached {
		clear(c.failures)
	}
	before := c.state
	c.state = before.next(e)
	c.announce()
	if c.state == before || c.closed {
		return
	}
	c.listeners.tell(c.state)
	c.cfg.logger.Log(context.Background(), c.state.level(), "framework: connection state changed",
		"state", c.state.String(), "session", fmt.Sprintf("%#x", s.ID()))
}

// failed remembers why a server could not be used. A refusal is final: trying again would be refused again.
func (c *core) failed(server string, err error) {
	c.cfg.logger.Debug("framework: connection attempt failed", "server", server, "error", err)
	if errors.Is(err, ErrAuthRefused) {
		c.refuse(fmt.Errorf("framework: %s: %w", server, err))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures[server] = err
}

func (c *core) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused == nil {
		c.refused = err
		c.announce()
	}
}

var _ io.Closer = (*Client)(nil)
