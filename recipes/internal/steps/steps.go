// Package steps is the seam of the engine: what happens inside it, step by step. A program has no observer, and a step
// costs it a comparison. A test has one: it writes a journal, which package recipes/journaltest checks, or acts between
// two steps, where no other goroutine could be sure to come in.
package steps

import (
	"time"

	"github.com/gocurator/curator/framework/session"
)

// A Kind is what a step is.
type Kind string

// These steps are reported under the mutex that guards what they change. The observer must not call the engine, but for
// Step.Valid.
const (
	// Joined: a session's first contender in a directory has made the view. Markers are those that count.
	Joined Kind = "joined"
	// Dropped: the view is gone.
	Dropped Kind = "dropped"
	// Queued: a contender has the node.
	Queued Kind = "queued"
	// Unqueued: the node has been given up, or is about to be removed.
	Unqueued Kind = "unqueued"
	// Granted: a grant is registered. Ungranted: it is no more.
	Granted   Kind = "granted"
	Ungranted Kind = "ungranted"
	// Refused: the directory's counter has ended. Accepted: contenders may enter it again.
	Refused  Kind = "refused"
	Accepted Kind = "accepted"

	// Listed: the view has become the listing Names, of the moment Zxid.
	Listed Kind = "listed"
	// Created: the view has heard that the session has created the node.
	Created Kind = "created"
	// Gone: the view has lost the node, which does not exist any more.
	Gone Kind = "gone"
	// Behind: the view is empty, since the next server may be behind the last.
	Behind Kind = "behind"
	// ByView and ByNumber: the view has decided about the node, among Names; ByNumber at its creation.
	ByView   Kind = "decided by view"
	ByNumber Kind = "decided by number"

	// Ended: the grant has ended, for the reason Err, now or when its validity ended: Until, by Valid.
	Ended Kind = "ended"

	// Waits: an acquire has entered the local queue of a retained lock. Leaves: it is out of that, with a baton or
	// without.
	Waits  Kind = "waits"
	Leaves Kind = "leaves"
	// Idle: the node of a retained lock has no hold. Woken: a goroutine has taken it out, to decide about it.
	Idle  Kind = "idle"
	Woken Kind = "woken"
)

// At these steps no mutex is held: the observer may act, and wait. They are reported by the goroutine whose step it is.
const (
	// ByListing: the contender has decided about the node, among Names.
	ByListing Kind = "decided by listing"
	// Bound: the session, or what has the node, is valid, and the grant will end with it. It is not registered yet.
	Bound Kind = "bound"
	// Admitted: the grant is registered. Whether it has ended meanwhile is next.
	Admitted Kind = "admitted"
	// Listening: the lease hears of contenders, but not yet of its limit.
	Listening Kind = "listening"

	// Judged: what is known of a retained lock's node is known; what becomes of it is next.
	Judged Kind = "judged"
	// Chosen: the next holder of the node is known; its hold is next.
	Chosen Kind = "chosen"
	// Handed: the holder has its hold; that the node is held is next.
	Handed Kind = "handed"
)

// Kinds are all kinds.
func Kinds() []Kind {
	return []Kind{
		Joined, Dropped, Queued, Unqueued, Granted, Ungranted, Refused, Accepted, Listed, Created, Gone, Behind, ByView, ByNumber,
		Ended, Waits, Leaves, Idle, Woken, ByListing, Bound, Admitted, Listening, Judged, Chosen, Handed,
	}
}

// A Step is one of them. Fields that its kind does not name are zero, but for Dir, Node and Session, where they are
// known.
type Step struct {
	Kind     Kind
	Dir      string // absolute path
	Node     string // name of the child
	Session  int64
	Hold     int64    // the number of a hold over a retained lock's node, from 1 on; 0 is the node's own grant
	Names    []string // the observer's own
	Markers  string   // the markers that count, and whether each is shared: "lock-/false/__READ__/true/"
	Local    string   // distinguishes the local queues of one directory
	Zxid     int64    // the directory's last change that the listing shows
	Admitted bool
	Err      string
	Until    time.Time        // filled in by the observer
	Valid    func() time.Time `json:"-"` // nil if it never began
}

// An Observer gets the steps of one client, from many goroutines.
type Observer interface {
	Step(s Step)
}

// A Source is a client.
type Source interface {
	// Attachments are what recipes hang on the client.
	Attachments() *session.Attachments
}

// Attach gives a client an observer, for good. It must come before the client's first recipe.
func Attach(client Source, o Observer) {
	session.Attach(client.Attachments(), func() Observer { return o })
}

// Of returns the client's observer, nil if it has none.
func Of(client Source) Observer { return session.Attach[Observer](client.Attachments(), nil) }
