package leader

import "github.com/gocurator/curator/recipes/locks"

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
	var present []*locks.Lease
	if l.term != nil {
		present = append(present, l.term)
	}
	return l.listeners.Add(func(term *locks.Lease) {
		_ = l.client.CatchPanic("a listener of a leader latch", func() { fn(term) }) // CatchPanic logs a panic
	}, present...)
}
