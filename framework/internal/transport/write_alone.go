package transport

// A request that has the connection to itself is written by the goroutine that sends it, if the connection is a TCP
// socket. Without this file writeLoop writes it, and the transport is right, at the cost of a goroutine switch more.
//
// The proof. Frames leave in the order in which they were queued, each once and whole:
//
//  1. One goroutine writes at a time: takeBatch takes out and sets writing in one step, and gives nothing while writing
//     is set. What it takes are all frames that were queued before, and it stamps them before the first byte leaves.
//  2. A frame that stays in out is written later. A sender that has queued it either signals writeLoop, or writes.
//     If it finds that another goroutine writes, wrote has not been called yet, and will find the frame: writeLoop then
//     takes the next batch, another sender signals writeLoop.
//  3. A part that the socket did not take is left in rest with writing still set, so no later frame overtakes it.
//     writeLoop takes it first, or a sender that comes late to its Write, and its wrote ends the write.
//
// A sender never blocks, whatever the peer does: the socket is asked once, and takes what it has room for. So a context
// bounds the call, and no timer watches the write. An error closes the link, as in writeLoop; the reader reports it.
//
// Where requests wait for answers, others are likely to come, and go with the same write: then writeLoop collects them.

// Unwritten are calls that Queue has left to its caller; the zero value has none.
type Unwritten struct{ link *link }

// Queue is [Transport.Send] for a goroutine that holds a mutex, under which it may not write: the caller lets go of the
// mutex, and calls Write.
func (t *Transport) Queue(calls ...*Call) (u Unwritten, queued bool) {
	l := t.current()
	if l == nil {
		return Unwritten{}, false
	}
	return l.queue(calls)
}

func (l *link) queue(calls []*Call) (u Unwritten, queued bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	alone := l.socket != nil && !l.writing && l.waiting.isEmpty()
	switch {
	case !l.queueLocked(calls):
		return Unwritten{}, false
	case alone:
		return Unwritten{l}, true
	default:
		l.signal()
		return Unwritten{}, true
	}
}

// Write writes what was queued, without blocking.
func (u Unwritten) Write() {
	if u.link != nil {
		u.link.writeAlone()
	}
}

func (l *link) writeAlone() {
	batch := l.takeBatch()
	if len(batch) == 0 {
		return
	}
	n, err := l.socket.write(batch)
	if err != nil {
		l.fail(err)
		return
	}
	if n < len(batch) {
		l.mu.Lock()
		l.rest = batch[n:]
		l.mu.Unlock()
		l.signal()
		return
	}
	if l.wrote(batch) {
		l.signal()
	}
}
