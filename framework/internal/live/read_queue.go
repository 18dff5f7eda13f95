package live

import (
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
)

// A readQueue is what the ReadManys of a session share: one window, and a queue of those that have something to ask
// for. The first sends one request and goes to the end, so that each gets as many as the others.
//
// A slot of the window passes from an answer to the next request in one step, under the mutex, on the goroutine that
// reads the connection. No goroutine holds a slot that it has still to use. What may come between:
//
//   - The loop of a ReadMany works when its turn comes: its request is sent. While mostReads answers wait for the loop,
//     the ReadMany has nothing to ask for, and is not in the queue.
//   - A ReadMany ends, by its loop or its ctx, just before its turn: it leaves the queue under the mutex. Just after:
//     its request is under way and has a slot until the answer comes, which then finds nothing to fill.
//   - The connection breaks. Its reads complete one after the other, before the session is offline. The first makes the
//     window one, so nothing is sent before the last, and then sending fails. All the ReadManys stall, and each goes on
//     by itself when there is a connection. So a read is never under way twice, and answers of two connections do not
//     mix.
//   - An overloaded server refuses a read. Its ReadMany pauses, and the window of one keeps all from asking for more
//     before the rest is answered.
//   - The session ends. The same happens, and the wait for a connection returns why.
//   - An answer comes between the look of the caller's goroutine and its wait: changed has room for one, and keeps it.
//
// After each step the queue is empty or the window is full. A full window has reads under way, and each read is
// completed once: so the queue goes on.
type readQueue struct {
	*sender
	observers *observers

	// Guarded by the mutex.
	window   readWindow
	waiting  []*reading
	readings int // ReadManys that have not ended
}

// begin begins a ReadMany. What the window has learned of other nodes does not hold for those of the first.
func (q *readQueue) begin(paths []string, part session.NodePart) *reading {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.readings == 0 {
		q.window.size = 1
	}
	q.readings++
	return &reading{queue: q, part: part, rest: paths, changed: make(chan struct{}, 1), began: time.Now()}
}

// joinLocked puts a reading that has something to ask for at the end of the queue, and serves the queue.
func (q *readQueue) joinLocked(r *reading) {
	q.pushLocked(r)
	for len(q.waiting) > 0 && q.window.open() {
		first := q.waiting[0]
		q.leaveLocked(first)
		if slot := first.nextLocked(); slot != nil { // it may have stalled meanwhile
			q.askLocked(first, slot)
			q.pushLocked(first)
		}
	}
}

func (q *readQueue) pushLocked(r *reading) {
	if !r.waits && r.nextLocked() != nil {
		r.waits, q.waiting = true, append(q.waiting, r)
	}
}

func (q *readQueue) leaveLocked(r *reading) {
	if i := slices.Index(q.waiting, r); i >= 0 {
		r.waits, q.waiting = false, slices.Delete(q.waiting, i, i+1)
	}
}

// askLocked sends one request. Without a connection the reading stalls.
func (q *readQueue) askLocked(r *reading, slot *readSlot) {
	call := q.request(r, slot)
	slot.read.Err = q.checkSize(call)
	switch slot.sent = true; {
	case slot.read.Err != nil:
		slot.done = true
		signal(r.changed)
	case q.sendLocked(call):
		q.window.underWay++
	default:
		slot.sent, r.stalled = false, true
		signal(r.changed)
	}
}

func (q *readQueue) request(r *reading, slot *readSlot) *transport.Call {
	path, sent := slot.read.Path, time.Now()
	done := func(read session.NodeRead) {
		read.Path = path
		q.answered(r, slot, sent, read)
	}
	switch {
	case r.part == session.ReadChildren:
		return transport.Children(path, false, func(children []string, stat *zk.Stat, err error) {
			if err == nil {
				q.observers.listed(path, children, stat)
			}
			done(session.NodeRead{Children: children, Stat: stat, Err: err})
		})
	case r.part == session.ReadStat || slot.refused != nil:
		return transport.Exists(path, false, func(stat *zk.Stat, err error) { done(session.NodeRead{Stat: stat, Err: err}) })
	default:
		return transport.Get(path, false, func(data []byte, stat *zk.Stat, err error) {
			done(session.NodeRead{Data: data, Stat: stat, Err: err})
		})
	}
}

// answered gives the answer to its reading, and the slot to the queue.
func (q *readQueue) answered(r *reading, slot *readSlot, sent time.Time, read session.NodeRead) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if open := r.applyLocked(slot, read); open {
		q.window.failed()
	} else {
		q.window.answered(sent, time.Now(), q.leases.timeout)
	}
	signal(r.changed)
	q.joinLocked(r)
}
