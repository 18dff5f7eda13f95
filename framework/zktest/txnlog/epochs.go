package txnlog

import (
	"cmp"
	"slices"
)

// epochs are the zxids of the logs of several servers, as far as they say what was executed.
type epochs struct {
	of     [][]span // by server, in the order of zxids
	newest int64    // the last zxid that most servers have logged
}

// A span is what a log has of one epoch.
type span struct{ first, last int64 }

func newEpochs(servers []serverFiles) epochs {
	e := epochs{of: make([][]span, len(servers))}
	m := newMerge(servers, func(Note) {})
	defer m.close()
	for on := m.next(); len(on) > 0; on = m.next() {
		zxid, logged, last := on[0].zxid(), 0, -1
		for _, c := range on { // in the order of servers, one of which may have it twice
			if c.server != last {
				e.add(c.server, zxid)
				logged++
			}
			last = c.server
		}
		if logged > len(servers)/2 {
			e.newest = zxid
		}
	}
	return e
}

func (e *epochs) add(server int, zxid int64) {
	spans := e.of[server]
	if n := len(spans); n > 0 && epoch(spans[n-1].last) == epoch(zxid) {
		spans[n-1].last = zxid
		return
	}
	e.of[server] = append(spans, span{zxid, zxid})
}

func epoch(zxid int64) int64 { return zxid >> 32 }

// endsOf returns the last executed zxid of each epoch that had one.
func endsOf(e epochs) map[int64]int64 {
	ends := map[int64]int64{}
	for end := e.newest; end != 0; {
		newer := epoch(end)
		ends[newer] = end
		first := end
		end = 0
		for _, spans := range e.of {
			if i := begin(spans, newer); i < len(spans) {
				first = min(first, spans[i].first)
			}
		}
		for _, spans := range e.of {
			if i := begin(spans, newer); i > 0 && i < len(spans) && spans[i].first == first {
				end = max(end, spans[i-1].last)
			}
		}
	}
	return ends
}

// begin returns the index of an epoch, or of the next later one.
func begin(spans []span, of int64) int {
	i, _ := slices.BinarySearchFunc(spans, of, func(s span, of int64) int { return cmp.Compare(epoch(s.first), of) })
	return i
}
