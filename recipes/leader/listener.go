package leader

import "github.com/gocurator/curator/recipes/locks"

// A listener hears each change of a latch's leadership. It has a goroutine of its own while there is one that it has
// not heard: a listener that blocks holds up neither the others nor the latch.
type listener struct {
	fn func(term *locks.Lease)

	// Guarded by the latch's mu.
	changes []*locks.Lease // that it has not heard
	running bool
	stopped bool
}

// OnChange calls fn with each term that begins, and with nil when it has ended. The calls alternate and begin with a
// term, with the present one if the latch leads; none is dropped, and a term that has ended meanwhile is reported, too.
// So fn may hear of a term late: what is done while leading takes the term's Context, which ends in time.
//
// The end of a term is reported as soon as it ends, without an answer of the servers: by Close and Release before the
// term's node is removed. But a call waits for those before it, and neither Close nor Release waits for a call.
//
// Calls come one at a time, on a goroutine of the listener's own, without any lock, and may use the latch, Close
// included. A panic is logged by the client. stop ends the calls: none begins after it has returned, except for one
// that was about to, and it does not wait for one that is running. OnChange panics if fn is nil.
//
// Curator: LeaderLatch.addListener(); isLeader(), notLeader(). To stop before Close is CloseMode.SILENT.
func (l *LeaderLatch) OnChange(fn func(term *locks.Lease)) (stop func()) {
	if fn == nil {
		panic("leader: OnChange: the function is nil")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	li := &listener{fn: fn}
	l.listeners[li] = struct{}{}
	if l.term != nil {
		l.push(li, l.term)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		li.stopped, li.changes = true, nil
		delete(l.listeners, li)
	}
}

// tell has every listener called. mu is held.
func (l *LeaderLatch) tell(term *locks.Lease) {
	for li := range l.listeners {
		l.push(li, term)
	}
}

// push has one listener called. mu is held.
func (l *LeaderLatch) push(li *listener, term *locks.Lease) {
	li.changes = append(li.changes, term)
	if !li.running {
		li.running = true
		go l.call(li)
	}
}

// call calls a listener until it has heard everything.
func (l *LeaderLatch) call(li *listener) {
	finished := false
	defer func() {
		if !finished { // it has ended its goroutine, as testing's FailNow does
			go l.call(li)
		}
	}()
	for term, news := l.news(li); news; term, news = l.news(li) {
		_ = l.client.CallUser("a listener of a leader latch", func() { li.fn(term) }) // which logs what it returns
	}
	finished = true
}

// news takes the next change for a listener, or notes that there is none.
func (l *LeaderLatch) news(li *listener) (term *locks.Lease, news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if li.running = len(li.changes) > 0; !li.running {
		return nil, false
	}
	term, li.changes = li.changes[0], li.changes[1:]
	return term, true
}
