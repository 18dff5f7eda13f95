package framework

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/cgroup"
	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
)

// core is what all facades of one client share.
type core struct {
	cfg      config
	root     *Client
	servers  *serverList
	route    *transport.Route
	clock    *clock.Clock
	ring     *cause.Ring // guarded by the session at work
	readsAll atomic.Bool // live.Config.ReadsAll
	meter    *cgroup.Meter
	support  *transport.Support
	added    transport.Authorizations // by AddAuth
	calls    callbacks
	trees    treeRemovals
	closing  chan struct{}
	life     context.Context //nolint:containedctx // ends with ErrClosed when Close is called: no operation outlives it
	kill     context.CancelCauseFunc
	once     sync.Once
	ended    chan struct{} // closed when the last session has been closed
	closeErr error         // written before ended is closed

	mu       ranked.Mutex[ranked.Client, core]
	change   StateChange  // the last; its state is LATENT before the first
	session  *live.Runner // the newest
	closed   bool
	refused  error            // the servers will never take this client
	failures map[string]error // each server's last one since the last connection
	server   string           // the one that the client is connected to, or was last
	changed  chan struct{}    // closed, and replaced, at every change
	carried  live.Backlog     // what the next session goes on with

	attachments session.Attachments // state of recipes
}

// open opens the next session, which begins to connect.
func (c *core) open(zxid int64) (*live.Runner, error) {
	s := c.next(zxid)
	err := s.Start()
	return s, err
}

// next makes the next session, and hands it what is left of the one before in one step: see later.
func (c *core) next(zxid int64) *live.Runner {
	cfg := live.Config{
		Transport: transport.Config{
			Route: c.route, Dial: c.cfg.dial, Secure: c.cfg.secure, SASL: c.guardSASL(c.cfg.sasl), Auth: c.cfg.auth, Added: &c.added,
			SessionTimeout: c.cfg.sessionTimeout, ConnectionTimeout: c.cfg.connectionTimeout,
			LastZxid: zxid, MaxFrame: c.cfg.maxResponse, Logger: c.cfg.logger, Clock: c.clock, Support: c.support,
		},
		Chroot: c.cfg.chroot, ACL: c.acl, DefaultData: c.cfg.data, MaxRequest: c.cfg.maxRequest,
		SyncRenewal: c.cfg.syncRenewal, Policy: c.cfg.errorPolicy,
		CountTraffic: c.cfg.trace.Operation != nil, Ring: c.ring, ReadsAll: &c.readsAll, Meter: c.meter,
	}
	var s *live.Runner
	events := live.Events{
		Attached: func(server string) { c.move(s.Session(), eventAttached, server, nil) },
		Detached: func(reason error) { c.move(s.Session(), eventDetached, "", reason) },
		Over:     func() { c.move(s.Session(), eventOver, "", s.Session().Err()) },
		Backlog:  c.later, Failed: c.failed, Restarted: c.restarted, Chore: c.calls.chores.PushAlways,
		OrphanFound: c.orphanFound, RemovalFailed: c.removalFailed,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		cfg.EnsembleGeneration = c.session.Session().EnsembleGeneration()
	}
	cfg.Carried, c.carried = c.carried, live.Backlog{}
	s = live.New(cfg, events)
	c.session = s
	return s
}

// run is the client's goroutine: it runs one session after the other.
func (c *core) run(s *live.Runner) {
	defer close(c.ended)
	for young := 0; ; {
		s.Run(c.closing)
		told := s.Close(c.patience())
		if c.refusal() != nil {
			<-c.closing // no server will take the next session either
			return
		}
		select {
		case <-c.closing:
			if id := s.Session().ID(); id != 0 && !told {
				c.closeErr = fmt.Errorf("framework: session %#x was not closed by a server: its nodes stay until it expires", id)
			}
			return
		default:
		}
		var open bool
		if young, open = c.rest(s, young); !open {
			return
		}
		next, err := c.open(s.LastZxid())
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

// patience is how long Close waits for a server to end the session.
func (c *core) patience() time.Duration {
	select {
	case <-c.closing:
		return min(time.Second, c.cfg.connectionTimeout)
	default:
		return 0
	}
}

// move feeds the state machine. Listeners hear of changes in the order of the calls. server belongs to eventAttached: s
// itself has none any more if the clock ends it meanwhile.
func (c *core) move(s *live.Session, e event, server string, reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The reader and the clock may come here in another order than that in which they changed the session.
	if e != eventOver && s.Err() != nil {
		return
	}
	if e == eventAttached {
		clear(c.failures)
		c.server = server
	}
	if e == eventOver && c.refused != nil {
		e = eventRefused
	}
	c.announceLocked()
	before := c.change.State
	now := before.next(e)
	if now == before {
		return
	}
	c.change = StateChange{State: now, Previous: before, SessionID: s.ID(), Server: c.server, Time: time.Now(), Err: reason}
	if c.closed {
		return
	}
	c.calls.listeners.Push(c.change)
	if traced := c.cfg.trace.State; traced != nil {
		change := c.change
		c.calls.traces.PushAlways(func() { traced(change) })
	}
	c.logState(c.change, s.Timeout())
}

func (c *core) logState(change StateChange, timeout time.Duration) {
	attrs := []slog.Attr{slog.String("state", change.State.String()), slog.String("session", fmt.Sprintf("%#x", change.SessionID))}
	if change.Server != "" { // it has been connected
		attrs = append(attrs, slog.String("server", change.Server), slog.Duration("sessionTimeout", timeout))
	}
	if change.Err != nil {
		attrs = append(attrs, slog.Any("error", change.Err))
	}
	c.cfg.logger.LogAttrs(context.Background(), change.State.level(), "framework: connection state changed", attrs...)
}

// failed remembers why a server could not be used, and logs it: at Warn the first time since the client was connected,
// or the log would not say why there is no connection. A refusal is final.
func (c *core) failed(server string, err error) {
	level := slog.LevelDebug
	c.mu.Lock()
	if c.failures[server] == nil {
		level = slog.LevelWarn
	}
	c.mu.Unlock()
	c.cfg.logger.Log(context.Background(), level, "framework: connection attempt failed", "server", server, "error", err)
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
		c.announceLocked()
	}
}

// announceLocked wakes all waiters.
func (c *core) announceLocked() {
	close(c.changed)
	c.changed = make(chan struct{})
}
