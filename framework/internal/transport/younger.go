package transport

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// An ensemble that was wiped, restored or replaced is younger than its clients: "Servers that are behind" in doc.go.
// The question that finds it has a connection and a session of its own, which it closes again. What is attached in the
// end was opened with a handshake that names the zxid in force, so the server has at least that.

// ErrYounger says that the data of a server ends before what the client has seen.
var ErrYounger = errors.New("the data of the server is older than what this client has seen")

// hungUp notes that a server closed the connection instead of answering the handshake. A server that has just been
// asked for its age is not asked again: it is the others' turn.
func (t *Transport) hungUp(l *link, reason error) {
	if !l.newSession || l.ageAsked || t.seen.newest() == 0 || !errors.Is(reason, io.EOF) && !errors.Is(reason, syscall.ECONNRESET) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.suspect = &l.address
}

// takeSuspect returns the address that is to be asked for its age, if there is one.
func (t *Transport) takeSuspect() *Address {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.suspect
	t.suspect = nil
	return a
}

// examine asks the server at a how far its data goes, and connects to it if that is far enough, or if the whole
// ensemble has turned out to be younger.
func (t *Transport) examine(network string, a Address) (*link, error) {
	seen := t.seen.newest()
	found, err := t.ask(network, a)
	switch {
	case err != nil:
		err = fmt.Errorf("hung up on a client that has seen zxid %#x, and then: %w", seen, err)
		t.failedAt(a, err)
		return nil, err
	case found >= seen: // it has caught up, or did not serve before
		t.cfg.Route.level(a)
	case !t.cfg.Route.behind(a):
		err = fmt.Errorf("%w: it ends at zxid %#x, the client has seen %#x", ErrYounger, found, seen)
		t.failedAt(a, err)
		return nil, err
	default:
		t.seen.restart(found)
		t.cfg.Events.Restarted(a.Server, seen, found)
	}
	l, err := t.attempt(network, a)
	if err != nil {
		return nil, err
	}
	l.ageAsked = true
	return l, nil
}

// ask returns the zxid of the server at a, behind a sync.
func (t *Transport) ask(network string, a Address) (zxid int64, err error) {
	attempt, handshake := t.cfg.Route.limits(t.sessionTimeout(), t.cfg.ConnectionTimeout)
	ctx, cancel := context.WithTimeout(t.ctx, attempt)
	defer cancel()
	conn, err := t.open(ctx, network, a)
	if err != nil {
		return 0, err
	}
	// What takes too long is ended by closing the connection: like a link's, it may know no deadlines.
	end := sync.OnceFunc(func() { go hangUp(conn) })
	defer end()
	defer context.AfterFunc(ctx, end)()
	shaking := time.AfterFunc(handshake, end)
	defer shaking.Stop()
	q := question{conn: conn, in: bufio.NewReader(conn)}
	err = q.open()
	inTime := shaking.Stop()
	if err == nil && inTime {
		defer q.close()
		if err = t.identify(ctx, a, &q); err == nil {
			zxid, err = q.ask(t.cfg.Authorizations())
		}
	}
	if !inTime || err != nil && ctx.Err() != nil {
		return 0, errSilent
	}
	return zxid, err
}

// identify has the mechanism, if there is one, prove who the client is.
func (t *Transport) identify(ctx context.Context, a Address, q *question) error {
	if t.cfg.SASL == nil {
		return nil
	}
	return t.authenticate(ctx, describe(a.Server, q.conn), func(token []byte) ([]byte, error) {
		if _, err := q.conn.Write(tokenFrame(token)); err != nil {
			return nil, err
		}
		return readToken(q.in)
	})
}

// A question is a connection with a session that serves to ask for one zxid.
type question struct {
	conn  net.Conn
	in    *bufio.Reader
	frame []byte
}

// open opens a session, as short as the server gives.
func (q *question) open() error {
	var e encoder
	e.int32(0) // the length
	e.int32(0) // protocol version
	e.int64(0) // has seen nothing
	e.int32(1) // session timeout in milliseconds
	e.int64(0) // no session yet
	e.bytes(make([]byte, 16))
	binary.BigEndian.PutUint32(e, uint32(len(e)-4))
	if _, err := q.conn.Write(e); err != nil {
		return err
	}
	frame, err := readFrame(q.in, q.frame, maxHandshake)
	if err != nil {
		return err
	}
	q.frame = frame
	d := decoder{rest: frame[4:]}
	_, _ = d.int32(), d.int32() // protocol version, timeout
	if session := d.int64(); d.err == nil && session == 0 {
		return errNoSession
	}
	return d.err
}

const (
	xidQuestionSync = xidFirst + iota
	xidQuestion
	xidQuestionClose
)

// ask asks for the newest zxid. Authentication goes first, since servers that insist on it take nothing else before.
func (q *question) ask(auth []Auth) (zxid int64, err error) {
	var out []byte
	for _, a := range auth {
		out = setAuth(a).frame(out, xidAuth)
	}
	ignored := func(error) {}
	out = Sync("/", ignored).frame(out, xidQuestionSync)
	out = Exists("/", false, nil).frame(out, xidQuestion)
	if _, err := q.conn.Write(out); err != nil {
		return 0, err
	}
	for synced := false; ; {
		xid, zxid, code, err := q.answer()
		switch {
		case err != nil:
			return 0, err
		case xid == xidAuth && code != 0:
			return 0, ErrAuth
		case xid == xidQuestionSync && code != 0:
			return 0, fmt.Errorf("sync: %w", toError(code))
		case xid == xidQuestionSync:
			synced = true
		// without the sync the server may merely be behind the others
		case xid == xidQuestion && (zxid <= 0 || !synced):
			return 0, garbage("zxid %#x, behind a sync: %t", zxid, synced)
		case xid == xidQuestion:
			return zxid, nil
		}
	}
}

func (q *question) answer() (xid int32, zxid int64, code int32, err error) {
	frame, err := readFrame(q.in, q.frame, goZookeeperBuffer)
	if err != nil {
		return 0, 0, 0, err
	}
	q.frame = frame
	d := decoder{rest: frame[4:]}
	xid, zxid, code = d.int32(), d.int64(), d.int32()
	return xid, zxid, code, d.err
}

// close ends the session, and waits for the answer, or for the end of the connection.
func (q *question) close() {
	if _, err := q.conn.Write(closeSession(nil).frame(nil, xidQuestionClose)); err != nil {
		return
	}
	for {
		if xid, _, _, err := q.answer(); err != nil || xid == xidQuestionClose {
			return
		}
	}
}

// A verdict is what an attempt has shown about the data of a server.
type verdict int

const (
	unknown verdict = iota // it could not be asked
	behind                 // it lacks what the client has seen
	level                  // it has all of it
)

// younger decides whether the ensemble is younger than what the client has seen: every address was tried, more than
// half are behind, and none is level. Servers of the list that are known by no address, nowhere of them, count as one
// each that could not be asked. A server that has both an IPv4 and an IPv6 address of one name, of which it may not
// listen on both, counts once: of each name the family with more addresses counts, and that with more that are behind.
func younger(all []Address, nowhere int, verdicts map[Address]verdict) bool {
	type tally struct{ addresses, behind [2]int }
	names := make(map[string]*tally)
	for _, a := range all {
		v, tried := verdicts[a]
		if !tried || v == level {
			return false
		}
		n := names[a.Server]
		if n == nil {
			n = new(tally)
			names[a.Server] = n
		}
		host, _, _ := net.SplitHostPort(a.Dial)
		family := 0
		if ip, err := netip.ParseAddr(host); err == nil && !ip.Unmap().Is4() {
			family = 1
		}
		n.addresses[family]++
		if v == behind {
			n.behind[family]++
		}
	}
	count, lacking := nowhere, 0
	for _, n := range names {
		count += max(n.addresses[0], n.addresses[1])
		lacking += max(n.behind[0], n.behind[1])
	}
	return 2*lacking > count
}
