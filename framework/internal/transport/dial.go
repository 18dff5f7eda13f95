package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
)

// hosts is go-zookeeper's HostProvider. The dialer chooses the server, since that may take a look-up.
type hosts struct{}

func (hosts) Init([]string) error { return nil }
func (hosts) Len() int            { return 1 }
func (hosts) Connected()          {}

// Next never says that a round is over: go-zookeeper would then wait for a fixed second. The dialer waits instead.
func (hosts) Next() (server string, retryStart bool) { return anyServer, false }

const anyServer = "the next server"

// dial is go-zookeeper's dialer: it closes what is left of the connection before, waits a little if attempts keep
// failing, chooses a server, and returns a connection whose frames this package sees.
func (t *Transport) dial(network, _ string, _ time.Duration) (net.Conn, error) {
	failures, over := t.closeLast()
	if !over {
		// also before a question: its server may hang up on what it has just agreed to
		d := pause(failures, rand.Float64())
		t.sleep(d)
		t.cfg.Route.paused(d)
		l, err := t.connect(network, t.takeSuspect())
		if t.ctx.Err() == nil {
			return l, err // after a failure l is a typed nil, which is harmless: go-zookeeper looks at err first
		}
		if err == nil {
			l.fail(errClosing)
		}
	}
	<-t.ctx.Done() // an expired session is never dialed for again
	return t.farewell(), nil
}

// connect makes one attempt: at the server that is to be examined, or at the next one.
func (t *Transport) connect(network string, suspect *Address) (*link, error) {
	switch {
	case t.ctx.Err() != nil: // by Close, in the pause for instance
		return nil, errClosing
	case suspect != nil:
		return t.examine(network, *suspect)
	}
	attempt, _ := t.cfg.Route.limits(t.ask(), t.cfg.ConnectionTimeout)
	ctx, cancel := context.WithTimeout(t.ctx, attempt/2)
	defer cancel()
	a, problems, ok := t.cfg.Route.next(ctx)
	for server, err := range problems {
		t.failed(server, err)
	}
	if !ok {
		return nil, errNoAddress
	}
	return t.attempt(network, a)
}

// attempt connects to one address.
func (t *Transport) attempt(network string, a Address) (*link, error) {
	start := time.Now()
	t.trying(a.Server, cause.Dialing)
	attempt, handshake := t.cfg.Route.limits(t.ask(), t.cfg.ConnectionTimeout)
	ctx, cancel := context.WithDeadline(t.ctx, start.Add(attempt))
	defer cancel()
	raw, err := t.open(ctx, network, a)
	if err != nil {
		t.failedAt(a, err)
		return nil, err
	}
	t.trying(a.Server, cause.Shaking)
	l := newLink(t, raw, a.Server)
	l.address = a
	now := time.Now()
	l.endAt(now, min(start.Add(attempt).Sub(now), handshake))
	t.mu.Lock()
	t.link = l
	t.mu.Unlock()
	// Close may have broken "the present connection" just before this one became it.
	if t.ctx.Err() != nil {
		l.fail(errClosing)
	}
	return l, nil
}

// dialGrace is how long a dialer may take to return when its context has ended.
const dialGrace = 100 * time.Millisecond

var errDialer = errors.New("the dialer has not returned, although its context has ended")

// open opens a connection and secures it. It calls the dialer, which is the user's and may not heed its context. A
// connection that comes too late is closed.
func (t *Transport) open(ctx context.Context, network string, a Address) (net.Conn, error) {
	if err := t.ctx.Err(); err != nil { // by Close while servers were looked up
		return nil, err
	}
	type outcome struct {
		conn net.Conn
		err  error
	}
	dialed := make(chan outcome)
	given := make(chan struct{})
	defer close(given)
	go func() {
		conn, err := t.dialSecurely(ctx, network, a)
		select {
		case dialed <- outcome{conn, err}:
		case <-given:
			if err == nil {
				_ = conn.Close()
			}
		}
	}()
	select {
	case d := <-dialed:
		return d.conn, d.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(dialGrace)
	defer timer.Stop()
	select {
	case d := <-dialed: // with its own error about the end, or just in time
		return d.conn, d.err
	case <-timer.C:
		return nil, errDialer
	}
}

func (t *Transport) dialSecurely(ctx context.Context, network string, a Address) (net.Conn, error) {
	raw, err := t.cfg.Dial(ctx, network, a.Dial)
	if err == nil && raw == nil {
		err = errors.New("the dialer returned neither a connection nor an error")
	}
	if err != nil || t.cfg.Secure == nil {
		return raw, err
	}
	secured, err := t.cfg.Secure(ctx, raw, a.Server)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return secured, nil
}

// closeLast closes the last connection, which go-zookeeper forgets to do when a session expires, and counts failures:
// an attachment that did not last is one of them, so that a server that throws everybody out is not stormed.
//
// go-zookeeper's reader is gone when the next connection is dialed for, but it need not have ended with a failed Read:
// it gives up by itself on an answer that it does not like. What waits on the link hears of it here if it did not
// there.
func (t *Transport) closeLast() (failures int, expired bool) {
	t.mu.Lock()
	last := t.link
	t.link = nil // its merits count once: while later dials fail, it is not "the last attempt" any more
	t.mu.Unlock()
	lasted := last != nil && last.lasted() >= time.Second
	if last != nil {
		_ = last.detach(io.ErrClosedPipe)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	failures = t.failures
	if lasted {
		failures = 0
	}
	t.failures = failures + 1
	return failures, t.expired
}

// pause is the time to wait after so many failures in a row: none, then from about 20 ms up to a second, each shortened
// by as much as half at random so that clients do not come in waves. Ten attempts are made in the first half second, in
// which most elections end, and no more than about one a second later on.
func pause(failures int, random float64) time.Duration {
	if failures == 0 {
		return 0
	}
	full := min(float64(time.Second), float64(20*time.Millisecond)*math.Pow(1.3, float64(failures-1)))
	return time.Duration(full * (1 - random/2))
}

func (t *Transport) sleep(d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
	}
}

// readFrame reads one frame with its length in front into buf, which it replaces if it is too short.
func readFrame(r io.Reader, buf []byte, limit int) ([]byte, error) {
	if cap(buf) < 4 {
		buf = make([]byte, 512)
	}
	if _, err := io.ReadFull(r, buf[:4]); err != nil {
		return buf[:0], err
	}
	n := int(int32(binary.BigEndian.Uint32(buf[:4])))
	if limit == maxHandshake {
		if err := foreign(buf[:4]); err != nil {
			return buf[:0], err
		}
	}
	if n < 0 || n > limit {
		return buf[:0], fmt.Errorf("%w: frame of %d bytes, at most %d are taken", errGarbage, uint32(n), limit)
	}
	if cap(buf) < 4+n {
		grown := make([]byte, 4+n)
		copy(grown, buf[:4])
		buf = grown
	}
	if _, err := io.ReadFull(r, buf[4:4+n]); err != nil {
		return buf[:0], io.ErrUnexpectedEOF
	}
	return buf[:4+n], nil
}
