//go:build linux

package chaos_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/interop/godriver"
)

// A ledger replays what the servers have executed, and judges the writes of holders by the queues of that moment.
type ledger struct {
	queues  map[string]map[string]ticket // directory → name
	created map[string]time.Time         // by path
	removed map[string]time.Time         // by path: when the last node of it was removed
	nodes   map[string]int64             // what is there: ephemeral nodes by path, with their sessions
	data    map[string]string            // and the nodes that caches follow
	states  map[state]bool               // each state that such a node ever had
	last    map[string]godriver.Write    // by store: the newest write under a fencing token
	begun   map[string]proof             // by contender
	proofs  map[string][]proof           // by directory
	late    []late
	found   []string
}

// A ticket is a contender's node.
type ticket struct {
	number int64
	shared bool
}

// A state is a node's content after a transaction.
type state struct {
	path, data string
	zxid       int64
}

// A proof is a hold whose node was there, with no node ahead, at two transactions.
type proof struct {
	who      string
	hold     int
	shared   bool
	from, to int64 // zxids
}

// A late write was executed while its node was not the first, without any check.
type late struct {
	write godriver.Write
	at    time.Time
}

func newLedger(executed []zktest.Transaction) *ledger {
	l := &ledger{
		queues:  map[string]map[string]ticket{},
		created: map[string]time.Time{}, removed: map[string]time.Time{}, nodes: map[string]int64{}, data: map[string]string{},
		states: map[state]bool{}, last: map[string]godriver.Write{}, begun: map[string]proof{}, proofs: map[string][]proof{},
	}
	for _, dir := range queues {
		l.queues[dir] = map[string]ticket{}
	}
	for _, t := range executed {
		for _, c := range t.Changes {
			l.change(t, c)
		}
	}
	return l
}

func (l *ledger) change(t zktest.Transaction, c zktest.Change) {
	dir, name := path.Split(c.Path)
	dir = path.Clean(dir)
	queue := l.queues[dir]
	switch c.Kind {
	case zktest.Created:
		l.created[c.Path] = t.At
		if n, ok := number(name); ok && queue != nil {
			queue[name] = ticket{n, strings.Contains(name, "__READ__")}
		}
		if c.Owner != 0 {
			l.nodes[c.Path] = c.Owner
		}
	case zktest.Deleted:
		delete(queue, name)
		delete(l.nodes, c.Path)
		delete(l.data, c.Path)
		l.removed[c.Path] = t.At
	case zktest.DataSet:
		if strings.HasPrefix(dir, store+"/") {
			l.write(t, c.Path, c.Data)
		}
	default:
	}
	if (c.Kind == zktest.Created || c.Kind == zktest.DataSet) && (c.Path == data || strings.HasPrefix(c.Path, data+"/")) {
		l.data[c.Path] = string(c.Data)
		l.states[state{c.Path, string(c.Data), t.Zxid}] = true
	}
}

func number(name string) (int64, bool) {
	const digits = 10
	if len(name) < digits {
		return 0, false
	}
	n, err := strconv.ParseInt(name[len(name)-digits:], 10, 32)
	return n, err == nil
}

// write judges a write of a holder.
func (l *ledger) write(t zktest.Transaction, node string, text []byte) {
	var w godriver.Write
	if err := json.Unmarshal(text, &w); err != nil {
		l.problem("%#x: %s has %q: %v", t.Zxid, node, text, err)
		return
	}
	ahead, mine, there := l.ahead(w.Path)
	switch kind := path.Base(node); kind {
	case godriver.Begin, godriver.End:
		if !there || ahead != "" {
			l.problem("%#x: %s has written under a check while its node was there: %t, and behind %q",
				t.Zxid, w.Who, there, ahead)
		}
		l.prove(t.Zxid, kind, w, mine.shared)
	case godriver.Token:
		if last := l.last[node]; cmp.Or(cmp.Compare(w.Token, last.Token), cmp.Compare(w.Count, last.Count)) < 0 {
			l.problem("%#x: the store has taken token %#x.%d of %s after %#x.%d of %s",
				t.Zxid, w.Token, w.Count, w.Who, last.Token, last.Count, last.Who)
		}
		l.last[node] = w
	default:
		if !there || ahead != "" {
			l.late = append(l.late, late{w, t.At})
		}
	}
}

// ahead returns a node that excludes another and comes before it, if there is one.
func (l *ledger) ahead(node string) (ahead string, mine ticket, there bool) {
	dir, name := path.Split(node)
	queue := l.queues[path.Clean(dir)]
	mine, there = queue[name]
	if path.Clean(dir) == semaphore+"/leases" {
		return "", mine, there // a lease does not depend on which nodes are ahead, but on how many are held: see crowds
	}
	for other, one := range queue {
		if one.number < mine.number && (!one.shared || !mine.shared) {
			return other, mine, there
		}
	}
	return "", mine, there
}

// prove notes a hold that has written at its begin and at its end.
func (l *ledger) prove(zxid int64, kind string, w godriver.Write, shared bool) {
	if kind == godriver.Begin {
		l.begun[w.Who] = proof{who: w.Who, hold: w.Hold, shared: shared, from: zxid}
		return
	}
	p := l.begun[w.Who]
	if p.hold != w.Hold || p.who == "" {
		p = proof{who: w.Who, hold: w.Hold, shared: shared, from: zxid} // the begin was not executed
	}
	p.to = zxid
	dir := path.Dir(w.Path)
	l.proofs[dir] = append(l.proofs[dir], p)
}

// overlaps finds proven holds that exclude each other, or are too many.
func (l *ledger) overlaps() (found []string) {
	for dir, proofs := range l.proofs {
		limit := 1
		if dir == semaphore+"/leases" {
			limit = leases
		}
		slices.SortFunc(proofs, func(a, b proof) int { return cmp.Compare(a.from, b.from) })
		var inside []proof
		for _, one := range proofs {
			inside = slices.DeleteFunc(inside, func(other proof) bool { return other.to < one.from })
			inside = append(inside, one)
			readers := !slices.ContainsFunc(inside, func(p proof) bool { return !p.shared })
			if len(inside) > limit && !readers {
				found = append(found, fmt.Sprintf("%s: %d hold where %d may: %+v", dir, len(inside), limit, inside))
			}
		}
	}
	return found
}

func (l *ledger) problem(format string, args ...any) {
	l.found = append(l.found, fmt.Sprintf(format, args...))
}

// residue is what contenders and registrations have left.
func (l *ledger) residue() (left []string) {
	for node, session := range l.nodes {
		left = append(left, fmt.Sprintf("%s of session %#x", node, session))
	}
	for dir, queue := range l.queues {
		for name := range queue {
			if node := dir + "/" + name; l.nodes[node] == 0 {
				left = append(left, node)
			}
		}
	}
	slices.Sort(left)
	return left
}
