package transport

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/ranked"
)

// A Feature is a kind of request that not every server knows, and that a client can do without.
type Feature int32

// The features.
const (
	FeatureCreate2       Feature = opCreate2
	FeatureContainers    Feature = opCreateContainer
	FeatureRemoveWatches Feature = opRemoveWatches
	FeatureSetWatches    Feature = opSetWatches
	FeatureTreeWatches   Feature = opAddWatch
)

type feature struct {
	bit     uint32 // in Support.here; the numbers of the requests are too great
	instead string // what the client does without it
}

var features = map[int32]feature{
	opCreate2:         {1 << 0, "creations are followed by a request for the node's Stat"},
	opCreateContainer: {1 << 1, "parents are persistent nodes, which are never removed"},
	opAddWatch:        {1 << 2, "nodes are watched one by one, not as trees"},
	opSetWatches:      {1 << 3, "watches are set one by one, each by a read"},
	opRemoveWatches:   {1 << 4, "watches stay at the server until they fire or the connection ends"},
}

// Support is what a client has found out about the requests that its servers know. It outlives sessions: a server that
// hangs up may take no session back. Its methods are safe for concurrent use.
//
// A feature that no server has shown to know counts for all servers once the client does without it. Of one that has
// worked somewhere, each server is judged by itself: a server that is replaced, or in trouble, says nothing about
// another one. Where it has worked, the evidence must be there twice.
//
// A server that does not know a request answers that it is unimplemented (ZooKeeper), or closes the connection without
// an answer (ClickHouse Keeper). An answer is proof. A connection that ends is evidence against its oldest unanswered
// request if the server closed it at once, and had answered another request on it; evidence counts only in a row: on
// connections one after the other, and without an answer to a request of that kind in between. A connection that ends
// in another way counts for nothing, and the row starts again. A request that servers are known to take does not fail
// so soon: the network may reset connections.
//
// A watch of a tree is the exception: each server is asked about it, in a question, before it gets one. A connection
// that ends on one all the same takes back that it has worked there, and the server is asked again.
type Support struct {
	logger *slog.Logger // it must not block: it is called under mu
	idle   atomic.Bool  // there is no evidence: most answers need no look at mu

	here atomic.Uint32 // features that work at the present server, as bits, as far as they were used on this connection

	// the longest request of each kind that any server has answered
	longest [opAddWatch + 1]atomic.Int64

	mu     ranked.Mutex[ranked.Branch, Support]
	server string // the present one
	works  map[finding]bool
	lacks  map[finding]bool
	known  map[int32]bool // has worked at some server
	rows   map[int32]*row // by kind of request
	doubts map[int32]bool // hung up on before anything was answered

	leastGrant time.Duration // the smallest session timeout that a server has granted; 0 before
}

// askedFirst reports whether servers are asked about a kind of request in a question.
func askedFirst(op int32) bool { return op == opAddWatch }

// A finding is about a feature of a server.
type finding struct {
	op     int32
	server string
}

// NewSupport returns a Support that has found out nothing yet.
func NewSupport(logger *slog.Logger) *Support {
	s := &Support{
		logger: logger, works: map[finding]bool{}, lacks: map[finding]bool{}, known: map[int32]bool{},
		rows: map[int32]*row{}, doubts: map[int32]bool{},
	}
	s.idle.Store(true)
	return s
}

// attached notes which server the client uses from now on.
func (s *Support) attached(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = server
	s.here.Store(0)
}

// Lacks reports whether the client is to do without a feature at the present server.
func (s *Support) Lacks(f Feature) bool {
	if s.worksHere(f) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lackedByLocked(s.server, int32(f))
}

// Has reports whether a feature has worked at the present server.
func (s *Support) Has(f Feature) bool {
	if s.worksHere(f) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.works[finding{int32(f), s.server}]
}

// worksHere looks at no mutex: most creations and waits need no more.
func (s *Support) worksHere(f Feature) bool { return s.here.Load()&features[int32(f)].bit != 0 }

// lackedByLocked is Lacks for any server.
func (s *Support) lackedByLocked(server string, op int32) bool {
	if s.lacks[finding{op, server}] || s.known[op] || askedFirst(op) {
		return s.lacks[finding{op, server}]
	}
	for lacking := range s.lacks {
		if lacking.op == op {
			return true
		}
	}
	return false
}

// Doubts reports whether connections have ended on requests of a kind. Another request should then be answered first,
// so that the next end is evidence.
func (s *Support) Doubts(c *Call) bool {
	if s.idle.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubts[c.op] || s.rows[c.op] != nil
}

// taken reports whether servers take requests of a kind that are as long. Every server knows some kinds whose requests
// carry only a path. Their answers may still be too long for what lies between.
func (s *Support) taken(op int32, size int) bool {
	switch op {
	case opDelete, opExists, opGetData, opGetACL, opGetChildren2, opSync:
		return true
	default:
		return op > 0 && int(op) < len(s.longest) && int64(size) <= s.longest[op].Load()
	}
}

// answered notes the answer to a request of so many bytes.
func (s *Support) answered(op, code int32, size int, server string) {
	if op > 0 && code != codeUnimplemented {
		raise(&s.longest[op], int64(size))
	}
	f, optional := features[op]
	if code != codeUnimplemented && s.idle.Load() && (!optional || s.here.Load()&f.bit != 0) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if optional && code == codeUnimplemented {
		s.doWithoutLocked(op, server, toError(code))
		return
	}
	if optional {
		s.worksLocked(op, server)
	}
	delete(s.rows, op)
	delete(s.doubts, op)
	s.restLocked()
}

// askedForTrees notes what a question has shown: why the server does without watches of trees, or nil.
func (s *Support) askedForTrees(server string, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reason != nil {
		s.doWithoutLocked(opAddWatch, server, reason)
		return
	}
	s.worksLocked(opAddWatch, server)
}

// worksLocked notes that a feature works at a server.
func (s *Support) worksLocked(op int32, server string) {
	s.known[op] = true
	s.works[finding{op, server}] = true
	delete(s.lacks, finding{op, server})
	if server == s.server {
		s.here.Or(features[op].bit)
	}
}

// raise sets a value to a greater one. Two connections' readers may overlap.
func raise(v *atomic.Int64, to int64) {
	for {
		before := v.Load()
		if to <= before || v.CompareAndSwap(before, to) {
			return
		}
	}
}

// doWithoutLocked gives a feature up.
func (s *Support) doWithoutLocked(op int32, server string, reason error) {
	if !s.lackedByLocked(server, op) {
		s.logger.Warn("framework: the server does not know a request, the client does without it",
			"request", opName(op), "server", server, "error", reason, "instead", features[op].instead)
	}
	delete(s.works, finding{op, server})
	s.here.Store(0)
	s.lacks[finding{op, server}] = true
	delete(s.rows, op)
	delete(s.doubts, op)
	s.restLocked()
}

// restLocked notes whether there is any evidence.
func (s *Support) restLocked() { s.idle.Store(len(s.rows) == 0 && len(s.doubts) == 0) }

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
	opSetWatches: "setWatches", opClose: "closeSession", opAddWatch: "addWatch",
}
