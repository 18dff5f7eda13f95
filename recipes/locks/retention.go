package locks

import (
	"time"

	"github.com/gocurator/curator/recipes/internal/queue"
)

// What becomes of a node after a hold is decided here, by pure functions.

// A retention is how long a node may stay with its client. Locks with equal ones share a local queue.
type retention struct {
	most        int           // hand-overs, unless it is known that no other client waits
	afterDemand int           // hand-overs after another client is known to wait
	busy        time.Duration // from the admission until the last hand-over, as most
	idle        time.Duration // how long the node stays when no contender of this client wants it
}

type fate int

const (
	removed    fate = iota
	handedOver      // to the first contender of the local queue
	kept            // for the next contender of this client
	heldBack        // admits nobody until the directory is listed
)

// A demand is what is known of contenders that are not in the local queue.
type demand int

const (
	unknown  demand = iota // the listing is still to come, or the leader has not been heard of for long
	unheard                // it will not come: the directory may not be listed, or the listing lacks the node
	alone                  // the node is the only one
	demanded               // another contender has a node
)

// A situation is what decides the fate of a node.
type situation struct {
	now     time.Time
	usable  bool // the node may have another hold
	demand  demand
	silence time.Duration // since a server was heard of
	hearing time.Duration // how long the silence may be
	handed  int           // hand-overs so far
	after   int           // of these, since another contender is known to wait
	age     time.Duration // since the admission
	waiting bool          // a contender of the local queue waits
	proven  bool          // keeping the node is likely to pay
	idle    time.Duration // how long no contender of this client has wanted the node
}

// fate decides. Other clients' contenders wait for at most: once they are known, the present hold and afterDemand
// further ones; before that, what is left of busy and one hold.
func (r retention) fate(s situation) fate {
	wantsToKeep := s.proven && s.idle < r.idle
	switch {
	case !s.usable, s.silence >= s.hearing, s.demand == unheard, !s.waiting && !wantsToKeep:
		return removed
	case s.demand == alone:
		return s.handOverOrKeep()
	case s.demand == demanded && s.waiting && s.after < r.afterDemand:
		return handedOver
	case s.demand == demanded, s.age >= r.busy:
		return removed
	case s.handed < r.most:
		return s.handOverOrKeep()
	default: // the listing is on its way, and takes less time than another node
		return heldBack
	}
}

func (s situation) handOverOrKeep() fate {
	if s.waiting {
		return handedOver
	}
	return kept
}

// A history is what a local queue remembers, to tell whether keeping nodes pays.
type history struct {
	node   string    // of the newest grant
	streak int       // grants in a row with no other node in between
	banned time.Time // until when nodes are not kept
}

const (
	// minOwnGrants is how many grants in a row must have been our own before a node is kept.
	minOwnGrants = 3
	// worthwhile is how many hand-overs a kept node must have had when another client wants it.
	worthwhile = 3
	// banTime is how long nodes are not kept where that did not pay. NFS servers give no delegation for as long.
	banTime = 30 * time.Second
)

// granted notes a grant with a node of its own.
func (h *history) granted(g *queue.Grant) {
	if h.node != "" && g.Follows(h.node) {
		h.streak++
	} else {
		h.streak = 1
	}
	h.node = g.Name
}

// demoted notes that another client wanted an idle node.
func (h *history) demoted(handed int, now time.Time) {
	if handed < worthwhile {
		h.banned, h.streak = now.Add(banTime), 0
	}
}

// proven reports whether keeping a node is likely to pay.
func (h *history) proven(now time.Time) bool {
	return h.streak >= minOwnGrants && !now.Before(h.banned)
}
