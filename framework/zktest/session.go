package zktest

import (
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// session lives in the store, not on a connection: it outlives the latter.
type session struct {
	id       int64
	timeout  time.Duration
	deadline time.Duration // on the store's clock, at a tick boundary
	queuedAt time.Duration // the deadline under which it stands in the heap
	index    int
	conn     *conn // the newest; nil while disconnected
}

// sessionHeap orders sessions by queuedAt. A touch only moves the deadline;
// the heap hears of it when the old one has come. So a touch costs nothing.
type sessionHeap []*session

func (h sessionHeap) Len() int { return len(h) }

func (h sessionHeap) Less(i, j int) bool {
	if h[i].queuedAt != h[j].queuedAt {
		return h[i].queuedAt < h[j].queuedAt
	}
	return h[i].id < h[j].id
}

func (h sessionHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *sessionHeap) Push(x any) {
	sess, _ := x.(*session)
	sess.index = len(*h)
	*h = append(*h, sess)
}

func (h *sessionHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}

// elapsed is the store's clock. It stands still while the server is frozen.
func (st *store) elapsed() time.Duration {
	if !st.frozenAt.IsZero() {
		return st.frozenAt.Sub(st.origin)
	}
	return time.Since(st.origin)
}

// expiryAfter rounds up to the next tick, as the real server's buckets do: a
// session that falls silent ends between timeout and timeout + tick later.
func (st *store) expiryAfter(timeout time.Duration) time.Duration {
	return boundary(st.elapsed()+timeout, st.cfg.tick)
}

// boundary returns the first multiple of step after t.
func boundary(t, step time.Duration) time.Duration { return t.Truncate(step) + step }

func (st *store) touch(sess *session) {
	sess.deadline = st.expiryAfter(sess.timeout)
	if sess.deadline < sess.queuedAt {
		sess.queuedAt = sess.deadline
		heap.Fix(&st.expiry, sess.index)
		st.schedule()
	}
}

// newSession opens a session in a transaction of its own.
func (st *store) newSession(timeout time.Duration) *session {
	st.begin(st.nextSession, nil).commit()
	sess := &session{id: st.nextSession, timeout: timeout}
	st.nextSession++
	sess.deadline = st.expiryAfter(timeout)
	sess.queuedAt = sess.deadline
	st.sessions[sess.id] = sess
	heap.Push(&st.expiry, sess)
	st.schedule()
	return sess
}

// firstSession lays ids out as the real server does: server number, time,
// counter. None looks like the owner of a container or of a TTL node.
func firstSession(server int64, now time.Time) int64 {
	return server<<56 | now.UnixMilli()&0xffffffffff<<16
}

// password belongs to the id, so nothing has to be kept.
func (st *store) password(id int64) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(id))
	binary.BigEndian.PutUint64(b[8:], uint64(st.secret))
	sum := sha256.Sum256(b[:])
	return sum[:16]
}

// endSession removes the session and its ephemeral nodes in one transaction.
// Every server closes the session's connection when it learns of it; by, the
// connection that asked for the end, is left to be answered.
func (st *store) endSession(sess *session, by *conn) {
	t := st.begin(sess.id, nil)
	t.ended, t.endedBy = sess.id, by
	if by != nil {
		t.request = by.xid
	}
	for _, path := range st.tree.ephemeralsOf(sess.id) {
		t.drop(path)
	}
	delete(st.sessions, sess.id)
	heap.Remove(&st.expiry, sess.index)
	t.commit()
}

// expireDue ends the sessions whose time has come and puts those that have
// been heard from meanwhile where they belong now.
func (st *store) expireDue(now time.Duration) {
	for len(st.expiry) > 0 && st.expiry[0].queuedAt <= now {
		sess := st.expiry[0]
		if sess.deadline > now {
			sess.queuedAt = sess.deadline
			heap.Fix(&st.expiry, 0)
			continue
		}
		st.endSession(sess, nil)
	}
}
