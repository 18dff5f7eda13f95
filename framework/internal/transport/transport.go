package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/ranked"
)

// A Transport is one session's connection to ZooKeeper. Its methods are safe for concurrent use.
type Transport struct {
	cfg               Config
	conn              *zk.Conn
	ended             <-chan zk.Event // closed when go-zookeeper's goroutines are gone
	ctx               context.Context //nolint:containedctx // the context of dials; ends when the transport is leaving
	stop              context.CancelFunc
	wg                sync.WaitGroup // writers and the farewell
	seen              history
	stubConnected     context.Context //nolint:containedctx // ends when go-zookeeper talks to the farewell server
	noteStubConnected context.CancelFunc
	closed            sync.Once

	arrivals atomic.Uint64 // segments read
	slow     slowness

	mu       ranked.Mutex[ranked.Leaf, Transport]
	link     *link
	suspect  *Address      // hung up on the handshake of a new session
	granted  time.Duration // the smallest session timeout that the session was granted; zero before
	failures int           // attempts in a row that led to nothing
	known    bool          // a server has opened the session
	expired  bool          // no server knows the session any more
}

// New makes a transport that does nothing yet.
func New(cfg Config) *Transport {
	if cfg.Support == nil {
		cfg.Support = NewSupport(cfg.Logger)
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.New()
	}
	t := &Transport{cfg: cfg}
	t.ctx, t.stop = context.WithCancel(context.Background())                        //nolint:forbidigo // a life of its own
	t.stubConnected, t.noteStubConnected = context.WithCancel(context.Background()) //nolint:forbidigo // as above
	t.seen.proven = cfg.LastZxid
	return t
}

// Start starts connecting. It returns at once; Events report the rest. A transport that was started must be closed.
func (t *Transport) Start() error {
	t.cfg.Route.search()
	conn, ended, err := zk.Connect([]string{anyServer}, t.cfg.SessionTimeout,
		zk.WithDialer(t.dial),
		zk.WithHostProvider(hosts{}),
		zk.WithLogger(printf{t.cfg.Logger}),
		zk.WithLogInfo(false),
		zk.WithMaxBufferSize(goZookeeperBuffer),
		zk.WithMaxConnBufferSize(goZookeeperBuffer))
	if err != nil {
		return fmt.Errorf("transport: %w", err)
	}
	t.conn, t.ended = conn, ended
	return nil
}

// goZookeeperBuffer holds what go-zookeeper still says and hears itself: pings.
const goZookeeperBuffer = 4 << 10

// Arrivals counts what has arrived from servers, in segments: two equal counts mean silence.
func (t *Transport) Arrivals() uint64 { return t.arrivals.Load() }

// Quiet reports whether nothing but pings is waiting for an answer.
func (t *Transport) Quiet() bool {
	l := t.current()
	return l == nil || l.quiet()
}

// LastZxid is the newest transaction that the servers certainly have, by their answers.
func (t *Transport) LastZxid() int64 { return t.seen.certain() }

// SeenZxid is the newest transaction that an answer has shown. Unlike LastZxid it counts the last answer of a
// connection, which no later one has confirmed.
func (t *Transport) SeenZxid() int64 { return t.seen.newest() }

// Send puts calls on the wire, in one segment and in this order, and reports whether it could: if not, the transport is
// not attached and no call is completed. It does not wait for anything.
func (t *Transport) Send(calls ...*Call) bool {
	l := t.current()
	return l != nil && l.send(calls)
}

// Break closes the present connection, if there is one; go-zookeeper then looks for another server.
func (t *Transport) Break(reason error) {
	if l := t.current(); l != nil {
		l.fail(reason)
	}
}

func (t *Transport) current() *link {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.link
}

// Close ends the transport and waits until all its goroutines are gone. With patience, and if it is attached or about
// to be, it first asks the server to end the session, and waits for the answer as long as that; answered reports
// whether it came. No event arrives after Close has returned.
//
// go-zookeeper's own Close waits for seconds when no server answers. It is therefore given one that does: once the
// transport is leaving, the dialer returns a connection to a server in this process that agrees to everything.
func (t *Transport) Close(patience time.Duration) (answered bool) {
	t.closed.Do(func() {
		t.stop() // an exchange that is under way fails now; no further connection is opened
		answered = patience > 0 && t.endSession(patience)
		t.Break(errClosing)
		<-t.stubConnected.Done()
		t.conn.Close()
	})
	for range t.ended { // drained until it is closed
	}
	t.wg.Wait()
	return answered
}

// endSession closes the session. While the present link is not open yet, its handshake may open a session at the
// server, and nothing but a request on this link can close that before its timeout. So it waits until the link is open,
// or has failed.
func (t *Transport) endSession(patience time.Duration) bool {
	l := t.current()
	if l == nil {
		return false
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-l.opened:
	case <-l.dead:
	case <-timer.C:
		return false
	}
	answered := make(chan error, 1)
	if !l.send([]*Call{closeSession(func(err error) { answered <- err })}) {
		return false
	}
	select {
	case err := <-answered:
		return err == nil
	case <-timer.C:
		return false
	}
}

// attached and expire record what became of a handshake. They are called by the goroutine that reads.
func (t *Transport) attached(a Attachment) {
	t.mu.Lock()
	t.known = true
	t.mu.Unlock()
	t.cfg.Support.attached(a.Server)
	t.cfg.Events.Attached(a)
}

func (t *Transport) expire() {
	t.mu.Lock()
	t.expired = true
	t.mu.Unlock()
	t.cfg.Events.Expired()
}

func (t *Transport) trying(server string, stage cause.Stage) {
	if t.cfg.Events.Trying != nil && t.ctx.Err() == nil {
		t.cfg.Events.Trying(server, stage)
	}
}

// failedAt is failed for an attempt at one of a server's addresses.
func (t *Transport) failedAt(a Address, err error) {
	if a.Dial != a.Server {
		err = fmt.Errorf("at %s: %w", a.Dial, err)
	}
	t.failed(a.Server, err)
}

func (t *Transport) failed(server string, err error) {
	if t.ctx.Err() == nil && !errors.Is(err, errSecondLife) {
		t.cfg.Events.Failed(server, err)
	}
}

// printf is go-zookeeper's logger. What it says is detail: the framework logs what matters from its own events.
type printf struct{ logger *slog.Logger }

func (p printf) Printf(format string, args ...any) {
	switch {
	case format == "failed to connect to %s: %v", format == "authentication failed: %s":
		// Events.Failed says it, with the server. The second is any failure of a handshake, mostly of the network.
	case p.logger.Enabled(context.Background(), slog.LevelDebug): //nolint:forbidigo // go-zookeeper has none to pass on
		p.logger.Debug("go-zookeeper: " + fmt.Sprintf(format, args...))
	}
}
