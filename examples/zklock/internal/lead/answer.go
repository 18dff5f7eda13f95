package lead

import (
	"fmt"
	"time"
)

// An Answer says who leads. Its fields are what HTTP answers, as JSON.
type Answer struct {
	Name      string     `json:"name"`            // the leader; Me only if Leading; "" if none is known
	Me        string     `json:"me"`              // this participant
	Leading   bool       `json:"leading"`         // this participant leads, for ValidFor from the question on
	Since     *time.Time `json:"since,omitempty"` // when Name began to lead, as far as this process has seen
	Token     int64      `json:"token,omitempty"` // the fencing token of the term
	ValidFor  int64      `json:"valid_for_ms"`    // 0 unless Leading
	Connected bool       `json:"connected"`       // otherwise, and right after it was not, another's Name may be old
}

// Answer returns who leads now. It does no I/O. A yes is a promise: no other participant leads before it has run out,
// neither after a loss, since the lease lasts as long, nor after a release, which waits for it.
func (e *Elector) Answer() Answer {
	connected := e.options.Client.State().IsConnected()
	e.mu.Lock()
	defer e.mu.Unlock()
	a := Answer{Me: e.options.Name, Connected: connected}
	now, since := time.Now(), printed(e.since)
	switch {
	case e.leads(now):
		e.promised = now.Add(e.promise)
		a.Name, a.Leading, a.Token, a.ValidFor = a.Me, true, e.term.FencingToken(), e.promise.Milliseconds()
		a.Since = &since
	case e.seen.ID != a.Me && e.seen.ID != "": // a node of this name says nothing about the lease
		since = printed(e.seenAt)
		a.Name, a.Token, a.Since = e.seen.ID, e.seen.Token, &since
	}
	return a
}

// printed is a time as people read it in JSON.
func printed(at time.Time) time.Time { return at.UTC().Truncate(time.Millisecond) }

// leads compares the time: the lease has to last as long as the promise.
func (e *Elector) leads(now time.Time) bool {
	return e.term != nil && e.term.Err() == nil && e.term.ValidUntil().Sub(now) >= e.promise
}

const mostPromise = 5 * time.Second // by default

// A PromiseError says that a promise is too long for the session.
type PromiseError struct{ promise, timeout time.Duration }

func (e *PromiseError) Error() string {
	return fmt.Sprintf("-promise %v is more than a quarter of the session timeout of %v, which is %v: a short outage would end "+
		"the answers; choose less, or a longer -session (the servers grant no more than they allow)", e.promise, e.timeout, e.timeout/4)
}

// promiseOf is how long a yes holds: by default an eighth of the session timeout, and at most 5 s. A lease is valid for
// between half and three quarters of the timeout while the servers answer. So an outage of a quarter passes unnoticed.
func promiseOf(timeout, asked time.Duration) (time.Duration, error) {
	switch {
	case asked < 0:
		return min(timeout/8, mostPromise), nil
	case asked > timeout/4:
		return 0, &PromiseError{asked, timeout}
	default:
		return asked, nil
	}
}
