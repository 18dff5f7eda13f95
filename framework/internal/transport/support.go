package transport

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Feature is a kind of request that not every server knows, and that a client can do without.
type Feature int32

// The features.
const (
	FeatureCreate2       Feature = opCreate2
	FeatureContainers    Feature = opCreateContainer
	FeatureRemoveWatches Feature = opRemoveWatches
)

var features = map[int32]string{
	opCreate2:         "creations are followed by a request for the node's Stat",
	opCreateContainer: "parents are persistent nodes, which nobody removes",
	opRemoveWatches:   "watches stay at the server until they fire or the connection ends",
}

const (
	// hangUpsToDoWithout is after how many hang-ups in a row on one feature the client does without it.
	hangUpsToDoWithout = 3
	// hangUpsToFail is after how many hang-ups in a row on one kind of request it fails.
	hangUpsToFail = 5
	// promptly is how long an answer may have been waited for if the end of the connection is to be the server's answer to it.
	promptly = time.Second
)

// A HangUpError says that a server closed the connection on a request again and again, although it had answered others: it does not
// know the request, or refuses its size. Whether the request was executed is not known.
type HangUpError struct {
	Request string // "create", "getChildren2", …
	Path    string // of the request, "" if it has none
	Server  string // the last one
	Times   int    // in a row
	Err     error  // how the last connection ended
}

func (e *HangUpError) Error() string {
	return fmt.Sprintf("%s closed the connection on %s %q, for the %dth time in a row and after answers to other requests: "+
		"it does not know the request, or takes none of that size: %v", e.Server, e.Request, e.Path, e.Times, e.Err)
}

// Unwrap returns how the connection ended.
func (e *HangUpError) Unwrap() error { return e.Err }

// Support is what a client has found out about the requests that its servers know. It outlives sessions: a server that hangs up may
// take no session back. Its methods are safe for concurrent use.
//
// A server that does not know a request answers that it is unimplemented (ZooKeeper), or closes the connection without an answer
// (ClickHouse Keeper). An answer is proof. A connection that ends is evidence against its oldest unanswered request if the server
// closed it at once, and had answered another request on it; evidence counts only in a row: on connections one after the other, and
// without an answer to a request of that kind in between. What ends in another way counts for nothing, and starts the row anew.
type Support struct {
	logger *slog.Logger // it must not block: it is called under mu
	idle   atomic.Bool  // there is no evidence: most answers need no look at mu

	seen atomic.Uint32 // known, as bits

	mu     sync.Mutex
	lacks  map[int32]bool
	known  map[int32]bool // was answered once
	rows   map[int32]int  // hang-ups in a row, by kind of request
	doubts map[int32]bool // hung up on before anything was answered
}

// NewSupport returns a Support that has found out nothing yet.
func NewSupport(logger *slog.Logger) *Support {
	s := &Support{logger: logger, lacks: map[int32]bool{}, known: map[int32]bool{}, rows: map[int32]int{}, doubts: map[int32]bool{}}
	s.idle.Store(true)
	return s
}

// Lacks reports whether the client is to do without a feature.
func (s *Support) Lacks(f Feature) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lacks[int32(f)]
}

// Doubts reports whether connections have ended on requests of a kind. Another request should then be answered first, so that the
// next end is evidence.
func (s *Support) Doubts(c *Call) bool {
	if s.idle.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubts[c.op] || s.rows[c.op] > 0
}

// answered notes the answer to a request.
func (s *Support) answered(op, code int32, server string) {
	_, optional := features[op]
	if code != codeUnimplemented && s.idle.Load() && (!optional || s.seen.Load()&(1<<op) != 0) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if optional && code == codeUnimplemented {
		s.doWithout(op, server, toError(code))
		return
	}
	if optional {
		s.known[op] = true
		s.seen.Or(1 << op)
	}
	delete(s.rows, op)
	delete(s.doubts, op)
	s.rest()
}

// doWithout gives a feature up. mu is held.
func (s *Support) doWithout(op int32, server string, reason error) {
	if !s.lacks[op] {
		s.lacks[op] = true
		s.logger.Warn("framework: the server does not know a request, the client does without it",
			"request", opName(op), "server", server, "error", reason, "instead", features[op])
	}
	delete(s.rows, op)
	delete(s.doubts, op)
	s.rest()
}

// rest notes whether there is any evidence. mu is held.
func (s *Support) rest() { s.idle.Store(len(s.rows) == 0 && len(s.doubts) == 0) }

// An ending is how a connection ended: what was waiting for an answer, and whether something else had got one.
type ending struct {
	server   string
	reason   error
	prompt   bool // the oldest request had not waited for long
	answered bool // another request had been answered
	waiting  []int32
}

// ended notes the end of a connection. It returns an error for the oldest request if that is to fail.
func (s *Support) ended(e ending) *HangUpError {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.rest()
	op, found := s.suspect(e.waiting)
	if !found || !e.prompt || !hungUp(e.reason) {
		clear(s.rows)
		clear(s.doubts)
		return nil
	}
	_, optional := features[op]
	for other := range s.rows {
		if _, both := features[other]; other != op && (!optional || !both) {
			delete(s.rows, other)
			delete(s.doubts, other)
		}
	}
	if !e.answered {
		s.doubts[op] = true
		return nil
	}
	s.rows[op]++
	n := s.rows[op]
	if s.doubts[op] { // the end before these, if nothing had been answered, is one of the row now
		n++
	}
	switch {
	case optional && n >= hangUpsToDoWithout:
		s.doWithout(op, e.server, e.reason)
	case !optional && n >= hangUpsToFail && op == e.waiting[0]:
		return &HangUpError{Request: opName(op), Server: e.server, Times: n, Err: e.reason}
	}
	return nil
}

// evidence notes how the connection ended, and returns an error for the oldest request if it is to fail.
func (l *link) evidence(reason error, waiting []pending) *HangUpError {
	e := ending{server: l.server, reason: reason, answered: l.answers > 0}
	for _, p := range waiting {
		switch {
		case p.call == nil || p.op == opSetAuth: // these may be overtaken
		case p.sent.IsZero():
			return l.t.cfg.Support.ended(e)
		default:
			if len(e.waiting) == 0 {
				e.prompt = l.t.cfg.Clock.Now().Sub(p.sent) < promptly
			}
			e.waiting = append(e.waiting, p.op)
		}
	}
	return l.t.cfg.Support.ended(e)
}

// suspect is the request that a connection may have ended on: the oldest, or, if the server can have read on without answering, the
// first feature behind it that has never been answered.
func (s *Support) suspect(waiting []int32) (op int32, found bool) {
	for _, op := range waiting {
		if _, optional := features[op]; optional && !s.known[op] && !s.lacks[op] {
			return op, true
		}
	}
	if len(waiting) == 0 {
		return 0, false
	}
	return waiting[0], true
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

// opName is ZooKeeper's name of a kind of request.
func opName(op int32) string {
	if name, ok := opNames[op]; ok {
		return name
	}
	return fmt.Sprintf("request %d", op)
}

var opNames = map[int32]string{
	opCreate: "create", opDelete: "delete", opExists: "exists", opGetData: "getData", opSetData: "setData", opGetACL: "getACL",
	opSetACL: "setACL", opSync: "sync", opGetChildren2: "getChildren2", opMulti: "multi", opCreate2: "create2",
	opRemoveWatches: "removeWatches", opCreateContainer: "createContainer", opCreateTTL: "createTTL", opSetAuth: "setAuth",
	opClose: "closeSession",
}
