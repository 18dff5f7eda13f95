package txnlog_test

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// An ensemble elects leaders, which propose, and lose what they proposed when they are deposed.
type ensemble struct {
	r        *rand.Rand
	members  []*member
	epoch    int64
	executed map[int64]bool
	begins   map[int64]byte // the server at which a session began, by the zxid of its begin
	sessions bool           // sessions begin
}

// A member is a server: the zxids that its tree has, and what it has on disk. Logs are in the order of zxids.
type member struct {
	epoch     int64
	tree      []int64
	logs      [][]int64
	snapshots map[int64][]int64 // the tree of each
	fresh     bool              // the next transaction goes to a new log
	copies    []*member         // as the files were earlier
}

func newEnsemble(r *rand.Rand) *ensemble {
	e := &ensemble{r: r, executed: map[int64]bool{}, begins: map[int64]byte{}, sessions: r.IntN(4) == 0}
	for range 3 + 2*r.IntN(2) {
		e.members = append(e.members, &member{snapshots: map[int64][]int64{0: nil}, fresh: true})
	}
	for range 1 + r.IntN(6) {
		e.lead()
		e.count()
		for _, m := range e.members {
			if r.IntN(6) == 0 {
				m.copies = append(m.copies, m.clone())
			}
			m.fresh = m.fresh || r.IntN(2) == 0 // it starts again
		}
	}
	return e
}

func (e *ensemble) most() int { return len(e.members)/2 + 1 }

// lead elects the server that has most, of those that can reach each other, and has it propose until it loses most of
// them. A leader may fail before the others follow it.
func (e *ensemble) lead() {
	e.epoch++
	list := e.r.Perm(len(e.members))
	reached, away := list[:e.most()], list[e.most():]
	leader := e.members[reached[0]]
	for _, i := range reached {
		if m := e.members[i]; m.epoch > leader.epoch || m.epoch == leader.epoch && m.last() > leader.last() {
			leader = m
		}
	}
	leader.epoch = e.epoch
	leader.snapshot(leader.last())
	followers, elected := []*member{}, e.r.IntN(8) > 0
	for _, i := range reached {
		if m := e.members[i]; m != leader && (elected || len(followers) < e.most()-2) {
			e.follow(m, leader, leader.last())
			followers = append(followers, m)
		}
	}
	if !elected {
		return
	}
	for _, zxid := range leader.tree {
		e.executed[zxid] = true
	}
	for zxid := range e.executed {
		if !slices.Contains(leader.tree, zxid) {
			panic("the model is wrong: a leader lacks what was executed")
		}
	}
	for zxid := e.epoch<<32 + 1; e.r.IntN(8) > 0; zxid++ {
		if len(away) > 0 && e.r.IntN(3) == 0 { // a server comes late
			m := e.members[away[0]]
			e.follow(m, leader, max(leader.last(), e.epoch<<32))
			followers, away = append(followers, m), away[1:]
		}
		if !e.propose(zxid, leader, &followers) {
			for more := zxid + 1; e.r.IntN(2) == 0; more++ {
				leader.log(more)
			}
			return
		}
	}
}

// count takes for executed what most servers have: each later leader knows it.
func (e *ensemble) count() {
	have := map[int64]int{}
	for _, m := range e.members {
		for _, zxid := range m.tree {
			if have[zxid]++; have[zxid] == e.most() {
				e.executed[zxid] = true
			}
		}
	}
}

// propose reports whether most servers have logged a transaction. Those that have not, follow no more.
func (e *ensemble) propose(zxid int64, leader *member, followers *[]*member) bool {
	if e.sessions && uint32(zxid) == 1 {
		e.begins[zxid] = byte(e.r.IntN(len(e.members)) + 1)
	}
	leader.log(zxid)
	failing := 1
	if e.r.IntN(6) == 0 {
		failing = 12
	}
	*followers = slices.DeleteFunc(*followers, func(m *member) bool {
		if e.r.IntN(20) < failing {
			return true
		}
		m.log(zxid)
		return false
	})
	if len(*followers)+1 < e.most() {
		return false
	}
	e.executed[zxid] = true
	for _, m := range append(slices.Clone(*followers), leader) {
		if e.r.IntN(8) == 0 {
			m.snapshot(zxid)
		}
	}
	return true
}

// follow gives a server what its leader has: by transactions, which it logs, or by a snapshot, in place of these, or
// by transactions after it has cut its log. Then it logs only what comes later, and writes a snapshot.
func (e *ensemble) follow(m, leader *member, processed int64) {
	m.epoch = e.epoch
	same := 0
	for same < min(len(m.tree), len(leader.tree)) && m.tree[same] == leader.tree[same] {
		same++
	}
	missing, more := leader.tree[same:], m.tree[same:]
	switch {
	case len(more) == 0 && e.r.IntN(3) > 0:
		for _, zxid := range missing {
			m.log(zxid)
		}
		return
	case m.last() < processed && e.r.IntN(2) == 0 || len(more) == 0:
		m.fresh = m.fresh || e.r.IntN(2) == 0
	default:
		for i := range m.logs {
			m.logs[i] = slices.DeleteFunc(m.logs[i], func(zxid int64) bool { return slices.Contains(more, zxid) })
		}
		m.logs = slices.DeleteFunc(m.logs, func(log []int64) bool { return len(log) == 0 })
		m.fresh, processed = true, leader.last()
	}
	m.tree = slices.Clone(leader.tree)
	m.snapshots[processed] = m.tree
}

func (m *member) last() int64 {
	if len(m.tree) == 0 {
		return 0
	}
	return m.tree[len(m.tree)-1]
}

func (m *member) log(zxid int64) {
	if m.fresh || len(m.logs) == 0 {
		m.logs, m.fresh = append(m.logs, nil), false
	}
	m.logs[len(m.logs)-1] = append(m.logs[len(m.logs)-1], zxid)
	m.tree = append(m.tree[:len(m.tree):len(m.tree)], zxid)
}

func (m *member) snapshot(zxid int64) { m.snapshots[zxid], m.fresh = m.tree, true }

func (m *member) clone() *member {
	one := *m
	one.logs, one.snapshots, one.copies = nil, maps.Clone(m.snapshots), nil
	for _, log := range m.logs {
		one.logs = append(one.logs, slices.Clone(log))
	}
	return &one
}

// purge removes all but the newest snapshots, and the logs that these do not need.
func (m *member) purge(r *rand.Rand) {
	zxids := slices.Sorted(maps.Keys(m.snapshots))
	oldest := zxids[r.IntN(len(zxids))]
	maps.DeleteFunc(m.snapshots, func(zxid int64, _ []int64) bool { return zxid < oldest })
	for len(m.logs) > 1 && m.logs[1][0] <= oldest {
		m.logs = m.logs[1:]
	}
}
