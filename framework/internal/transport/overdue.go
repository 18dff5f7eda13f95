package transport

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/ranked"
)

// An answer can be lost while its connection lives: pings are answered, so the connection never falls silent. ZooKeeper
// answers a ping behind everything that the session asked for before it (CommitProcessor queues a session's pings
// behind its writes, and its workers take a session's requests in order). So the answer to a ping proves that an older
// request without an answer will never get one. It may wait for as long as a silent connection, then the connection is
// left.
//
// A server that answers pings aside proves nothing, and may merely be slow. So each connection that was left for an
// overdue request doubles the time that requests of its kind may take, until one is answered sooner.
//
// As long as no later ping is answered nothing is needed here: the connection falls silent, or the session's timeout
// passes without an answer.

var errOverdue = errors.New("timeout: the server answers pings, but not an earlier request")

// pinged notes the answer to a ping that was sent then.
func (l *link) pinged(sent time.Time) {
	l.mu.Lock()
	l.waiting.pinged = sent
	l.mu.Unlock()
	l.watchOverdue()
}

// watchOverdue gives the connection up if its oldest request is overdue, or sets the timer for when it will be. A
// request whose answer may be arriving is looked at again after the next ping.
func (l *link) watchOverdue() {
	now := l.t.cfg.Clock.Now()
	l.mu.Lock()
	p, overtaken := l.waiting.overtaken()
	overtaken = overtaken && l.reason == nil
	var wait time.Duration
	if overtaken {
		if wait = p.sent.Add(l.t.slow.allowed(p.op, l.patience)).Sub(now); wait > 0 {
			l.overdue.Reset(wait) // before fail, which stops it, or not at all
		}
	}
	l.mu.Unlock()
	if overtaken && wait <= 0 && !l.reading.Load() {
		l.fail(errOverdue)
	}
}

// slowness is how often connections in a row were left for an overdue request, by kind of request.
type slowness struct {
	noted atomic.Bool // there is something in left
	mu    ranked.Mutex[ranked.Leaf, slowness]
	left  map[int32]int
}

// mostDoublings is more than enough for any server, and too little for an overflow.
const mostDoublings = 10

// allowed is how long a request may take although a later ping is answered; first is the time at the first connection.
func (s *slowness) allowed(op int32, first time.Duration) time.Duration {
	if !s.noted.Load() {
		return first
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return first << s.left[op]
}

// overdue notes that a connection was left for a request.
func (s *slowness) overdue(op int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil {
		s.left = make(map[int32]int)
	}
	s.left[op] = min(s.left[op]+1, mostDoublings)
	s.noted.Store(true)
}

// answered notes how long an answer took. The next request of its kind is allowed no more than it takes to get such an
// answer.
func (s *slowness) answered(op int32, took, first time.Duration) {
	if !s.noted.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.left[op]
	for n > 0 && took < first<<(n-1) {
		n--
	}
	if s.left[op] = n; n == 0 {
		delete(s.left, op)
	}
	s.noted.Store(len(s.left) > 0)
}
