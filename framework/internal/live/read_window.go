package live

import "time"

// A readWindow is how many reads of all the [Session.ReadMany] of a session may be under way. Servers answer a
// connection in order, so a renewal, or any other request, waits behind as many answers. A node may have a megabyte,
// and nothing says so before it is read. So the window goes by time: it begins with one read, grows by one with each
// answer, and is halved when an answer took a sixteenth of the session timeout. That is half of the eighth after which
// a renewal at a silent server is given up (patience).
//
// A window of which less than half is used has shown nothing about a larger one, and does not grow. Nor does one that
// has been halved while more are still under way.
//
// Beyond mostReads there is little to win: with a round trip of 1 ms they are 32,000 nodes in a second.
type readWindow struct {
	size     int
	underWay int
	halved   time.Time // reads that were sent before do not halve it again
}

const mostReads = 32

// open reports whether one more read may be sent.
func (w *readWindow) open() bool { return w.underWay < w.size }

// answered adapts the window to an answer that came now.
func (w *readWindow) answered(sent, now time.Time, timeout time.Duration) {
	used := 2*w.underWay >= w.size && w.underWay <= w.size
	w.underWay--
	switch {
	case now.Sub(sent) >= timeout/16:
		if !sent.Before(w.halved) {
			w.size, w.halved = max(w.size/2, 1), now
		}
	case used:
		w.size = min(w.size+1, mostReads)
	}
}

// failed adapts the window to a read that a lost connection or an overloaded server has left open.
func (w *readWindow) failed() { w.size, w.underWay = 1, w.underWay-1 }
