package transport

import (
	"bufio"
	"context"
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// A question is a connection with a session of its own, which serves to ask one server one thing, and is closed again.
// Whatever the server makes of it ends no connection on which a lease rests.
type question struct {
	conn  net.Conn
	in    *bufio.Reader
	frame []byte
}

// timeLimits are how long a question, and the handshake in it, may take.
type timeLimits struct{ whole, handshake time.Duration }

// inQuestion has ask use a question at the server at a. It ends with ctx, and in time.
func (t *Transport) inQuestion(ctx context.Context, network string, a Address, limits timeLimits, ask func(q *question) error) error {
	ctx, cancel := context.WithTimeout(ctx, limits.whole)
	defer cancel()
	conn, err := t.open(ctx, network, a)
	if err != nil {
		return err
	}
	// What takes too long is ended by closing the connection: like a link's, it may know no deadlines.
	end := sync.OnceFunc(func() { go hangUp(conn) })
	defer end()
	defer context.AfterFunc(ctx, end)()
	shaking := time.AfterFunc(limits.handshake, end)
	defer shaking.Stop()
	q := question{conn: conn, in: bufio.NewReader(conn)}
	err = q.open()
	inTime := shaking.Stop()
	if err == nil && inTime {
		defer func() {
			shaking.Reset(promptly) // an ensemble without a quorum does not end it, and nothing may wait for that
			q.close()
		}()
		if err = t.identify(ctx, a, &q); err == nil {
			err = ask(&q)
		}
	}
	if !inTime || err != nil && ctx.Err() != nil {
		return errSilent
	}
	return err
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

// questionTimeout is the session timeout. A connection that ends within promptly has not ended with its session: that
// would look like the end that a request is answered with.
const questionTimeout = 2 * promptly

// open opens a session.
func (q *question) open() error {
	var e encoder
	e.int32(0) // the length
	e.int32(0) // protocol version
	e.int64(0) // has seen nothing
	e.int32(int32(questionTimeout.Milliseconds()))
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
	xidQuestionTree
	xidQuestionClose
)

// authFrames say who the client is.
func authFrames(auth []Auth) (out []byte) {
	for _, a := range auth {
		out = setAuth(a).frame(out, xidAuth)
	}
	return out
}

// answer reads one answer, or an event. A refused authentication is an error.
func (q *question) answer() (xid int32, zxid int64, code int32, err error) {
	frame, err := readFrame(q.in, q.frame, goZookeeperBuffer)
	if err != nil {
		return 0, 0, 0, err
	}
	q.frame = frame
	d := decoder{rest: frame[4:]}
	xid, zxid, code = d.int32(), d.int64(), d.int32()
	if d.err == nil && xid == xidAuth && code != 0 {
		return 0, 0, 0, ErrAuth
	}
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
