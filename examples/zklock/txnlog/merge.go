package txnlog

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A merge reads the logs of all servers in the order of zxids. It opens a log when the names of the others say that
// their records may follow, so that few are open at a time.
type merge struct {
	unopened []*cursor // by the first zxid
	open     []*cursor
	newest   []*cursor // those that stand on the newest zxid
	past     int64     // the newest zxid
	read     passed
}

func newMerge(servers []serverFiles, note func(Note), checkRest bool) *merge {
	m := &merge{past: math.MinInt64}
	for i, s := range servers {
		for n, log := range s.logs {
			m.unopened = append(m.unopened, &cursor{
				logFile: log, server: i, voter: s.voter, newest: n == len(s.logs)-1, note: note, checkRest: checkRest,
			})
		}
	}
	slices.SortStableFunc(m.unopened, func(a, b *cursor) int { return cmp.Compare(a.first, b.first) })
	return m
}

// next returns the cursors that stand on the next zxid, in the order of servers; none at the end. Their records are
// valid until the following call.
func (m *merge) next() []*cursor {
	for _, c := range m.newest {
		m.keep(c, c.move(m.past, m.late))
	}
	m.newest = m.newest[:0]
	lowest := m.lowest()
	for len(m.unopened) > 0 && (len(m.open) == 0 || m.unopened[0].first <= lowest) {
		c := m.unopened[0]
		m.unopened = m.unopened[1:]
		m.keep(c, c.open(m.past, m.late))
		lowest = m.lowest()
	}
	others := m.open[:0]
	for _, c := range m.open {
		if c.zxid() == lowest {
			m.newest = append(m.newest, c)
		} else {
			others = append(others, c)
		}
	}
	m.open, m.past = others, lowest
	if len(m.newest) > 0 {
		m.read.add(lowest)
	}
	if len(m.newest) > 1 {
		slices.SortStableFunc(m.newest, func(a, b *cursor) int { return cmp.Compare(a.server, b.server) })
	}
	return m.newest
}

// late notes a record that stands behind later ones and is not there a second time.
func (m *merge) late(c *cursor) {
	if zxid := c.zxid(); !m.read.has(zxid) && c.damaged < mostDamaged {
		c.damage(recordError(c.at, fmt.Errorf("transaction %#x stands behind later ones, and is left out", zxid)))
	}
}

func (m *merge) keep(c *cursor, hasRecord bool) {
	if hasRecord {
		m.open = append(m.open, c)
	}
}

func (m *merge) lowest() (zxid int64) {
	for i, c := range m.open {
		if i == 0 || c.zxid() < zxid {
			zxid = c.zxid()
		}
	}
	return zxid
}

func (m *merge) close() {
	for _, c := range slices.Concat(m.open, m.newest) {
		c.close()
	}
}

// passed are the zxids that a merge has read, in ascending order.
type passed []span

func (p *passed) add(zxid int64) {
	n := len(*p)
	if n == 0 || n < mostGaps && (*p)[n-1].last+1 < zxid {
		*p = append(*p, span{zxid, zxid})
		return
	}
	(*p)[n-1].last = zxid // gaps beyond mostGaps are not kept
}

func (p *passed) has(zxid int64) bool {
	i, _ := slices.BinarySearchFunc(*p, zxid, func(s span, zxid int64) int { return cmp.Compare(s.last, zxid) })
	return i < len(*p) && (*p)[i].first <= zxid
}
