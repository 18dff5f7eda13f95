package transport

import (
	"errors"
	"io"
	"slices"
	"syscall"
	"time"

	"github.com/gocurator/curator/framework/session"
)

const (
	// hangUpsToDoWithout is after how many hang-ups in a row on one feature the client does without it.
	hangUpsToDoWithout = 3
	// hangUpsToFail is after how many hang-ups in a row on one kind of request it fails.
	hangUpsToFail = 5
	// promptly is how long an answer may have been waited for if the end of the connection is to be the server's answer
	// to it.
	promptly = time.Second
)

// An ending is how a connection ended: what was waiting for an answer, and whether something else had got one.
type ending struct {
	server   string
	reason   error
	prompt   bool // the oldest request had not waited for long
	answered bool // another request had been answered
	waiting  []int32
	size     int // bytes of the oldest waiting request
	at       time.Time
	session  time.Duration // the session timeout
}

// A row counts consecutive hang-ups on one kind of request.
type row struct {
	n     int
	began time.Time // no two since then are further apart than a session timeout
	last  time.Time
}

// add counts a hang-up.
func (r *row) add(e ending) *row {
	if r == nil {
		r = &row{began: e.at}
	} else if e.at.Sub(r.last) > e.session {
		r.began = e.at
	}
	r.n++
	r.last = e.at
	return r
}

// persists reports whether the hang-ups are proof against a request that servers have taken: it was asked for again and
// again for a session timeout, and no server has answered.
func (r *row) persists(e ending) bool { return e.at.Sub(r.began) >= e.session }

// ended notes the end of a connection. It returns an error for the oldest request if that is to fail.
func (s *Support) ended(e ending) *session.DisconnectError {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.restLocked()
	op, found := s.suspect(e)
	if !found || !e.prompt || !hungUp(e.reason) {
		clear(s.rows)
		clear(s.doubts)
		return nil
	}
	if slices.Contains(e.waiting, opAddWatch) { // the server may have been replaced by an older one
		delete(s.works, finding{opAddWatch, e.server})
		s.here.Store(0)
	}
	optional := givenUp(op)
	s.forgetOthers(op, optional)
	if !e.answered {
		s.doubts[op] = true
		return nil
	}
	row := s.rows[op].add(e)
	s.rows[op] = row
	n := row.n
	if s.doubts[op] { // the end before these, if nothing had been answered, is one of the row now
		n++
	}
	switch {
	case optional && n >= hangUpsToDoWithout:
		s.giveUpLocked(op, e)
	case !optional && n >= hangUpsToFail && op == e.waiting[0] && (!s.taken(op, e.size) || row.persists(e)):
		return &session.DisconnectError{Request: opName(op), Server: e.server, Times: n, Err: e.reason}
	}
	return nil
}

// givenUp reports whether the client does without a kind of request that connections have ended on.
func givenUp(op int32) bool {
	_, optional := features[op]
	return optional && !askedFirst(op)
}

// giveUpLocked does without a feature, or takes back that it works at a server.
func (s *Support) giveUpLocked(op int32, e ending) {
	here := finding{op, e.server}
	if !s.works[here] {
		s.doWithoutLocked(op, e.server, e.reason)
		return
	}
	delete(s.works, here)
	s.here.Store(0)
	delete(s.rows, op)
	delete(s.doubts, op)
}

// forgetOthers forgets the rows of other requests than op: unless both are of features, one ends the other's. mu is
// held.
func (s *Support) forgetOthers(op int32, optional bool) {
	for other := range s.rows {
		if other != op && (!optional || !givenUp(other)) {
			delete(s.rows, other)
			delete(s.doubts, other)
		}
	}
}

// evidence notes how the connection ended, and returns an error for the oldest request if it is to fail.
func (l *link) evidence(reason error, waiting []pending) *session.DisconnectError {
	e := ending{
		server: l.server, reason: reason, answered: l.answers > 0,
		at: l.t.cfg.Clock.Now(), session: l.t.ask(),
	}
	for _, p := range waiting {
		switch {
		case p.call == nil || p.op == opSetAuth: // these may be overtaken
		case p.sent.IsZero():
			return l.t.cfg.Support.ended(e)
		default:
			if len(e.waiting) == 0 {
				e.prompt = e.at.Sub(p.sent) < promptly
				e.size = p.call.Size()
			}
			e.waiting = append(e.waiting, p.op)
		}
	}
	return l.t.cfg.Support.ended(e)
}

// suspect is the request that a connection may have ended on: the oldest, or, if the server can have read on without
// answering, the first feature behind it that has not worked there.
func (s *Support) suspect(e ending) (op int32, found bool) {
	for _, op := range e.waiting {
		if givenUp(op) && !s.works[finding{op, e.server}] && !s.lackedByLocked(e.server, op) {
			return op, true
		}
	}
	if len(e.waiting) == 0 {
		return 0, false
	}
	return e.waiting[0], true
}

// hungUp reports whether it was the server that closed the connection.
func hungUp(reason error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(reason, end) {
			return true
		}
	}
	return false
}
