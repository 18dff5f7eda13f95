package locks

import (
	"time"

	"github.com/gocurator/curator/recipes/internal/queue"
)

// What becomes of a node after a hold: pure functions.

type retention struct {
	most        int
	afterDemand int
	busy        time.Duration
	idle        time.Duration
}

type fate int

const (
	removed    fate = iota
	handedOver      // to the local queue
	kept            // for the next contender of this client
	heldBack        // admits no contender until the directory is listed
)

// A demand is what is known of contenders outside the local queue.
type demand int

const (
	unknown  demand = iota // no listing yet
	unheard                // no listing will show it: it is refused, or lacks the node
	alone                  // by the listing, the node is the only one
	demanded               // another contender has a node
)

// news is what a residence has heard, and when.
type news struct {
	demand  demand
	timeout time.Duration // the session timeout
	silence time.Duration // since the newest request was sent that the leader has answered
	listed  time.Duration // since the listing was asked for by which the node is alone
	asking  bool          // a new listing was asked for
	asked   time.Duration // since that request
}

// lasts returns for how long a listing without others counts if nothing more is heard.
//
// Renewals show each quarter of the session timeout, and a round trip later, that the server keeps up with its leader.
// But an event may be lost, while the client may not read the directory, or when the database is restored. So a listing
// is believed for the session timeout, and while it is renewed.
func (n news) lasts() time.Duration {
	listing := n.timeout - n.listed
	if n.asking {
		listing = max(listing, n.timeout/8-n.asked)
	}
	return min(n.timeout*3/8-n.silence, listing)
}

// isOld reports whether the directory is to be listed again.
func (n news) isOld() bool { return n.demand == alone && n.listed >= n.timeout && !n.asking }

func (n news) isAlone() bool { return n.demand == alone && n.lasts() > 0 }

type situation struct {
	news
	now     time.Time
	usable  bool          // the node may have another hold
	handed  int           // hand-overs
	after   int           // how many of these came after demand
	age     time.Duration // since the admission
	waiting bool          // a contender waits in the local queue
	tried   bool          // the first waiter is a try: it must not overtake another client
	proven  bool          // see history
	idle    time.Duration // since a contender of this client wanted it
}

// fate decides. Other clients' contenders wait for at most the present hold and afterDemand further ones once they are
// known; before that, for what is left of busy and one hold.
func (r retention) fate(s situation) fate {
	wantsToKeep := s.proven && s.idle < r.idle
	switch {
	case !s.usable, s.demand == unheard, !s.waiting && !wantsToKeep:
		return removed
	case s.isAlone():
		return s.handOverOrKeep()
	case s.demand == demanded && s.waiting && !s.tried && s.after < r.afterDemand:
		return handedOver
	case s.demand == demanded, s.age >= r.busy:
		return removed
	case s.handed < r.most:
		return s.handOverOrKeep()
	default: // the listing is on its way; another node takes longer
		return heldBack
	}
}

// standsFor returns for how long that fate of an idle node stands if nothing more is heard.
func (r retention) standsFor(s situation, f fate) time.Duration {
	idle, busy := r.idle-s.idle, r.busy-s.age
	switch {
	case f == heldBack:
		return max(busy, 0)
	case s.lasts() > 0:
		return max(min(idle, s.lasts()), 0)
	default:
		return max(min(idle, busy), 0)
	}
}

func (s situation) handOverOrKeep() fate {
	if s.waiting {
		return handedOver
	}
	return kept
}

// A history shows a local queue whether keeping nodes pays.
type history struct {
	newest queue.Node
	streak int       // nodes of this client in a row, no other in between
	banned time.Time // until when nodes are not kept
}

const (
	// minOwnGrants in a row let a node be kept.
	minOwnGrants = 3
	// worthwhile hand-overs make up for another client's wait.
	worthwhile = 3
	// banTime is how long nodes are not kept where that did not pay. NFS servers give no delegation for as long.
	banTime = 30 * time.Second
)

// granted notes the node of a new base.
func (h *history) granted(node queue.Node) {
	if h.newest.Name != "" && node.Follows(h.newest) {
		h.streak++
	} else {
		h.streak = 1
	}
	h.newest = node
}

// demoted notes that another client wanted an idle node.
func (h *history) demoted(handed int, now time.Time) {
	if handed < worthwhile {
		h.banned, h.streak = now.Add(banTime), 0
	}
}

func (h *history) proven(now time.Time) bool {
	return h.streak >= minOwnGrants && !now.Before(h.banned)
}
