package transport

import "github.com/gocurator/curator/framework/ranked"

// A history is how far the servers have come, as this client knows: the highest transaction id (zxid) that it has seen.
// It goes with every handshake, and a server that has not come that far refuses the client, which so never goes back in
// time.
//
// The other side of that is that a zxid which is too high locks the client out of every server, for as long as it is
// believed. A zxid is therefore taken only
//
//   - from the answer to a request of this package that was waiting for one: not from events (they carry -1, or since
//     3.9 their own), pings, authentication or handshakes;
//   - if it can be: not below the one before it on the same connection, since a server answers a session in the order
//     of execution, and not millions of elections ahead (the high half of a zxid counts those);
//   - as proven only once a later answer of the same connection goes along with it. Until then it is a claim: it goes
//     with handshakes as well, but is given up when servers have refused it again and again;
//   - unless its connection ends with garbage. Then nothing from this connection counts. What others have shown stays.
//
// A server that consistently reports a possible future looks the same as one of an ensemble that is ahead.
type history struct {
	mu ranked.Mutex[ranked.Leaf, history]
	progress
}

// A progress is a history at one moment.
type progress struct {
	proven   int64
	claimed  int64 // proven or higher
	refusals int   // handshakes in a row that were not answered, while there was a mere claim
}

func (p progress) newest() int64 { return max(p.claimed, p.proven) }

// maxElections is how far the election count of one answer may be ahead of what is known: an ensemble that holds an
// election every second gets there in half a year.
const maxElections = 1 << 24

// claimRefusals is how many handshakes in a row must be refused before a claim is given up. With the pauses between
// attempts they take a few seconds: a claim is almost always true, and elections make servers refuse everybody.
const claimRefusals = 16

// saw takes the zxid of an answer, of which last is the one before it on the same connection, zero if there was none.
// It returns the last one for the next call.
func (h *history) saw(zxid, last int64) (int64, error) {
	if zxid == 0 || zxid == -1 {
		return last, nil // refusals by the server at hand have none
	}
	if zxid < last {
		return last, garbage("zxid %#x after %#x on one connection", zxid, last)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if known := max(h.proven, last); zxid>>32 > known>>32+maxElections {
		return last, garbage("zxid %#x, when %#x is the newest known", zxid, known)
	}
	h.proven = max(h.proven, last)
	h.claimed = max(h.claimed, h.proven, zxid)
	return zxid, nil
}

// newest is for handshakes, and for records of what a client had seen.
func (h *history) newest() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.progress.newest()
}

// certain is for the handshakes of later sessions.
func (h *history) certain() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.proven
}

// doubt takes back the progress of a connection that ended with garbage: before is what its call of taken returned. It
// reports whether that gives something up.
func (h *history) doubt(before progress) (gaveUp bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gaveUp = h.progress.newest() > before.newest()
	h.progress = before
	return gaveUp
}

// refused notes that a server did not answer a handshake, and reports whether that gives a claim up.
func (h *history) refused() (gaveUp bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.claimed <= h.proven {
		return false
	}
	if h.refusals++; h.refusals < claimRefusals {
		return false
	}
	h.claimed, h.refusals = h.proven, 0
	return true
}

// taken notes that a handshake was answered, and returns what was known before.
func (h *history) taken() progress {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.progress
	h.refusals = 0
	return before
}

// restart is for an ensemble that is younger than what was known.
func (h *history) restart(zxid int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.proven, h.claimed, h.refusals = zxid, zxid, 0
}
