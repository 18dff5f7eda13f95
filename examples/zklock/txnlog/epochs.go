package txnlog

import (
	"cmp"
	"slices"
)

// epochs are the zxids of the logs of several servers, as far as they say what was executed.
type epochs struct {
	servers []serverFiles
	of      [][]span // by server, in the order of zxids
	damaged []bool   // by server: a part of a log is not read
	electorate
	apart  []serverFiles   // the snapshots of the servers that have them elsewhere, see isWitness
	most   map[int64]int64 // the last zxid of each epoch that most servers have logged
	newest int64           // the last zxid that most servers have logged
	last   int64           // the last zxid that any server has logged
}

// A span is what a log has of one epoch.
type span struct{ first, last int64 }

func newEpochs(servers []serverFiles, of electorate) epochs {
	e := epochs{
		servers: servers, of: make([][]span, len(servers)), damaged: make([]bool, len(servers)), electorate: of,
		most: map[int64]int64{},
	}
	damaged := map[string]struct{}{}
	m := newMerge(servers, func(n Note) {
		if n.Incomplete() {
			damaged[n.File] = struct{}{}
		}
	}, true)
	defer m.close()
	for on := m.next(); len(on) > 0; on = m.next() {
		zxid, last := on[0].zxid(), -1
		for _, c := range on { // in the order of servers, one of which may have it twice
			if c.server != last {
				e.add(c.server, zxid)
			}
			last = c.server
		}
		e.last = zxid
		if e.hasMost(on) {
			e.newest, e.most[epoch(zxid)] = zxid, zxid
		}
	}
	for i, s := range servers {
		for _, log := range s.logs {
			_, isDamaged := damaged[log.name]
			e.damaged[i] = e.damaged[i] || isDamaged
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
		ends[epoch(end)] = end
		end, _ = e.lastBefore(epoch(end))
	}
	return ends
}

// lastBefore returns the last zxid before the first one of an epoch, in the logs that have both, and this first one.
// The last zxid is 0 if no log has both.
func (e *epochs) lastBefore(newer int64) (last, first int64) {
	begun := false
	for _, spans := range e.of {
		if i := begin(spans, newer); i < len(spans) && epoch(spans[i].first) == newer && (!begun || spans[i].first < first) {
			first, begun = spans[i].first, true
		}
	}
	for _, spans := range e.of {
		if i := begin(spans, newer); i > 0 && i < len(spans) && spans[i].first == first {
			last = max(last, spans[i-1].last)
		}
	}
	return last, first
}

// begin returns the index of an epoch, or of the next later one.
func begin(spans []span, of int64) int {
	i, _ := slices.BinarySearchFunc(spans, of, func(s span, of int64) int { return cmp.Compare(epoch(s.first), of) })
	return i
}
