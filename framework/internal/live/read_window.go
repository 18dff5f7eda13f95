package live

import "time"

// A readWindow is how many reads of a [Session.ReadMany] may be under way. Servers answer a connection in order, so a
// renewal, or any other request, waits behind as many answers. A node may have a megabyte, and nothing says so before
// it is read. So the window goes by time: it begins with one read, grows by one with each answer, and is halved when
// an answer took a sixteenth of the session timeout. A renewal at a server that is silent is given up after an eighth,
// at the earliest (patience), so that half of that remains for the renewal itself.
//
// Beyond mostReads there is little to win: with a round trip of 1 ms they are 32,000 nodes in a second.
type readWindow struct {
	size   int
	halved time.Time // reads that were sent before do not halve it again
}

const mostReads = 32

// answered adapts the window to an answer that came now.
func (w *readWindow) answered(sent, now time.Time, timeout time.Duration) {
	switch {
	case now.Sub(sent) < timeout/16:
		w.size = min(w.size+1, mostReads)
	case !sent.Before(w.halved):
		w.size, w.halved = max(w.size/2, 1), now
	}
}
