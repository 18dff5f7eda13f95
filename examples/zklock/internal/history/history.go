// Package history says from the transactions that servers have executed who queued at locks, held them, and how that
// ended. It knows the locks of this library, of Java Curator, of kazoo and of go-zookeeper, as package survey does.
package history

import (
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// A History is what happened at the locks at and below a path.
type History struct {
	Path string
	// From and To are the first and the newest transaction of the logs.
	From, To txnlog.Moment
	Locks    []Lock // by path
	// Omitted is how many contenders are left out, the oldest ones: see Options.Most.
	Omitted int
	// Notes say what is wrong in the files, or missing, and MoreNotes how many there are beyond.
	Notes     []txnlog.Note
	MoreNotes int
	// Incomplete says that the files do not show all that happened, or not for sure.
	Incomplete bool
}

// A Lock is a lock's part of a history.
type Lock struct {
	Path string
	Kind string // as in survey.Lock
	// Limit is the most leases of a semaphore at one time. It is what Options say; else the most that were held
	// together, so that the true limit may be greater. It is 0 for other locks.
	Limit int
	// MayOverlap says why clients of other libraries may have held beside those that were let in, although their nodes
	// are shown to wait, or to have given up. It is nil if all stood by the rule of this library.
	MayOverlap []string
	Contenders []Contender // by their creation, those whose creation is not known first
}

// A Contender is a node that queued at a lock. A Moment is zero if it has not come, or is not known. Its time is zero
// if it was in a gap of the logs, which ends with its zxid.
type Contender struct {
	Path    string
	Node    string // its name
	Kind    survey.Kind
	By      string // the library, as far as the node's name shows it
	Session int64  // its owner; 0 if the node is not ephemeral, or its owner is not known
	Who     string // the node's data when it was created, printable and cut to 200 characters
	// Token is the fencing token: Queued.Zxid, or that of the writer whose place a reader has. It is 0 if not known.
	Token int64
	// Czxid is the zxid of the node's creation; 0 if it is not known. Of a semaphore that is the lease's.
	Czxid int64
	// Queued is when it came. Of a semaphore's lease that is when its client came to the gate.
	Queued txnlog.Moment
	// LetIn is when no contender stood in its way any more: the earliest moment at which its client could hold. Leases
	// of one acquire are let in together, with the last; one that its client removed before it left the gate is not.
	LetIn txnlog.Moment
	// LetInEarlier says that it was let in before the logs begin: it is not known when, and LetIn is Queued, which may
	// be zero.
	LetInEarlier bool
	// AskedToLeave is when its data became the request to leave, and AskedEarlier says that it was before the logs
	// begin.
	AskedToLeave txnlog.Moment
	AskedEarlier bool
	// Ended is when its node went.
	Ended txnlog.Moment
	How   How
	// EndedBy is the session that removed it: its own, unless How is Removed. It is 0 if the servers removed it.
	EndedBy int64
}

// How says how a contender ended.
type How string

// How contenders end. A contender whose node is there still has none.
const (
	Released How = "released" // its own session deleted it after it was let in
	GaveUp   How = "gave up"  // its own session deleted it before
	Closed   How = "closed"   // its client closed the session
	Expired  How = "expired"  // the servers ended the session, which they had not heard in time
	Removed  How = "removed"  // another session deleted it, or an administrator
	Unknown  How = "unknown"  // it went in a gap of the logs, or whose it was is not known
)

// In reports whether it was ever let in.
func (c *Contender) In() bool { return c.LetInEarlier || c.LetIn != (txnlog.Moment{}) }

// Held is how long its client can have held, until a time if it is there still; 0 if it was never let in. It is not
// known if it was let in or ended at a moment whose time is not known.
func (c *Contender) Held(now time.Time) (d time.Duration, known bool) {
	if !c.In() {
		return 0, true
	}
	return between(c.LetIn, c.Ended, now)
}

// Waited is how long it waited to be let in: until it ended, or until a time if it waits still. It is not known if it
// was let in before the logs begin.
func (c *Contender) Waited(now time.Time) (d time.Duration, known bool) {
	switch {
	case c.LetInEarlier:
		return 0, false
	case c.In():
		return between(c.Queued, c.LetIn, now)
	default:
		return between(c.Queued, c.Ended, now)
	}
}

// between is never negative: the next leader's clock may be behind.
func between(from, to txnlog.Moment, now time.Time) (d time.Duration, known bool) {
	if to != (txnlog.Moment{}) {
		now = to.At
	}
	if from.At.IsZero() || now.IsZero() {
		return 0, false
	}
	return max(now.Sub(from.At), 0), true
}
