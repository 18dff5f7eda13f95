package transport

import "time"

// pending is a request on its way. call is nil if it is go-zookeeper's.
type pending struct {
	xid, op int32
	call    *Call
	sent    time.Time // zero before it is written
}

// pendingRequests are the requests of a link that are not answered yet, oldest first: those that have been written, and
// behind them those that have not. Its memory is used again and again.
type pendingRequests struct {
	all     []pending
	first   int       // what stands before it in all has been answered
	written int       // what stands behind it has not been written
	pinged  time.Time // when the newest ping that was answered had been sent
}

func (q *pendingRequests) push(p pending) {
	if len(q.all) == cap(q.all) && q.first > len(q.all)/2 { // move up rather than grow
		n := copy(q.all, q.all[q.first:])
		clear(q.all[n:])
		q.all = q.all[:n]
		q.written -= q.first
		q.first = 0
	}
	q.all = append(q.all, p)
}

// isEmpty reports whether no request is written, or waits for its answer.
func (q *pendingRequests) isEmpty() bool { return q.first == len(q.all) }

// stamp notes that everything is about to be written.
func (q *pendingRequests) stamp(now time.Time) {
	for ; q.written < len(q.all); q.written++ {
		q.all[q.written].sent = now
	}
}

// take finds what an answer is for: the oldest request that was written and is not answered. Only pings and
// authentication may overtake, and be overtaken. An answer to any other request cannot be, and must not be believed: a
// listing that came before the answer to the creation that was sent ahead of it would be taken for a later one.
func (q *pendingRequests) take(xid int32) (pending, bool) {
	for i, p := range q.all[q.first:q.written] {
		switch {
		case p.xid == xid:
			copy(q.all[q.first+1:], q.all[q.first:q.first+i])
			q.all[q.first] = pending{}
			q.first++
			if q.first == len(q.all) {
				q.restart()
			}
			return p, true
		case !overtakes(xid) && !overtakes(p.xid):
			return pending{}, false
		}
	}
	return pending{}, false
}

func overtakes(xid int32) bool { return xid == xidPing || xid == xidAuth }

// overtaken returns the oldest request that waits although a ping that was sent later has been answered. Two that were
// written at the same time do not count: the next ping decides.
func (q *pendingRequests) overtaken() (pending, bool) {
	for _, p := range q.all[q.first:q.written] {
		if p.op != opPing { // pings share one xid: the next ping's answer counts for it
			return p, p.sent.Before(q.pinged)
		}
	}
	return pending{}, false
}

// restart empties the queue when everything has been answered. The room that a burst needed does not stay for as long
// as the session.
func (q *pendingRequests) restart() {
	if cap(q.all) > 1024 {
		q.all = nil
	}
	*q = pendingRequests{all: q.all[:0]}
}

// takeAll takes everything, answered or not.
func (q *pendingRequests) takeAll() []pending {
	rest := q.all[q.first:]
	*q = pendingRequests{}
	return rest
}
