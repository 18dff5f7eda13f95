package overlap

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// lay lays each record over its node, and returns the holds in the order in which they can have begun.
func (j *judge) lay(in Input) map[history.Family][]*Hold {
	nodes := make(map[string]*history.Contender, len(in.Lock.Contenders))
	for i := range in.Lock.Contenders {
		nodes[in.Lock.Contenders[i].Node] = &in.Lock.Contenders[i]
	}
	chains := map[string]*chain{}
	first := map[twin]int{}
	holds := map[history.Family][]*Hold{}
	for i := range in.Records {
		rec := &in.Records[i]
		c := nodes[rec.Node]
		if c == nil {
			j.without(&in, rec)
			continue
		}
		key := twin{rec.Node, rec.Count}
		if k, twice := first[key]; twice {
			if same(&in.Records[k], rec) {
				continue // a file was given twice, or lies in two directories
			}
			j.find(Finding{"two records of one hold, which differ", rec.Node, rec.Process, rec.Begin.Time})
		} else {
			first[key] = i
		}
		j.Holds++
		if chains[rec.Node] == nil {
			chains[rec.Node] = &chain{}
		}
		ended := int64(0)
		if h := j.layOver(*rec, c, nodes); h != nil {
			ended = h.endedAfter()
			holds[history.FamilyOf(c.Kind)] = append(holds[history.FamilyOf(c.Kind)], h)
		}
		chains[rec.Node].extend(rec, ended)
	}
	j.findOutside()
	for _, h := range j.unrecorded(&in.Lock, chains) {
		holds[history.FamilyOf(h.kind)] = append(holds[history.FamilyOf(h.kind)], h)
	}
	endBeforeLater(holds)
	for _, list := range holds {
		slices.SortStableFunc(list, func(a, b *Hold) int {
			return cmp.Or(cmp.Compare(a.beganAfter(), b.beganAfter()), cmp.Compare(a.token, b.token), cmp.Compare(a.Count, b.Count))
		})
	}
	return holds
}

// A twin is what only one record can have.
type twin struct {
	node  string
	count int64
}

// same reports whether two records are copies of one line.
func same(a, b *records.Record) bool {
	one, other := *a, *b
	for _, m := range []*records.Moment{&one.Begin, &one.End, &other.Begin, &other.End} {
		m.Time = m.Time.UTC() // a time that was parsed twice has two locations
	}
	return one == other
}

// layOver bounds a hold by what the servers have executed. It is nil if the record is not of that node.
func (j *judge) layOver(rec records.Record, c *history.Contender, nodes map[string]*history.Contender) *Hold {
	wrong := func(format string, args ...any) {
		j.find(Finding{fmt.Sprintf(format, args...), rec.Node, rec.Process, rec.Begin.Time})
	}
	switch {
	case rec.Czxid != 0 && c.Token != 0 && rec.Czxid != c.Token:
		wrong("the record has the token %d, the logs have %d", rec.Czxid, c.Token)
		return nil
	case rec.Session != 0 && c.Session != 0 && int64(rec.Session) != c.Session:
		wrong("the record has the session %v, the logs have %v", rec.Session, records.SessionID(c.Session))
		return nil
	}
	h := &Hold{Record: rec, Who: c.Who, kind: c.Kind, token: c.Token}
	began := max(rec.Begin.Zxid, c.Czxid)
	if ahead := nodes[rec.After]; ahead != nil {
		began = max(began, certain(ahead.Ended))
	}
	ended := began
	if isReleased(rec.How) {
		ended = max(ended, rec.End.Zxid)
	}
	h.Bounds = [4]int64{began, c.Ended.Zxid, ended, 0}
	deleted := later(c.Ended.Zxid)
	switch {
	case began >= deleted:
		wrong("the hold began after its client had seen transaction %d, and its node was deleted by %d", began, deleted)
		h.Bounds[1] = 0
	case ended >= deleted:
		wrong("the hold lasted until after its client had seen transaction %d, and its node was deleted by %d", ended, deleted)
	case endsBefore(rec.How, c.How):
		h.Bounds[3] = c.Ended.Zxid
	}
	return h
}

// certain is the zxid of a moment; 0 if that was in a gap of the logs, and is the last that is possible.
func certain(m txnlog.Moment) int64 {
	if m.At.IsZero() {
		return 0
	}
	return m.Zxid
}

// endsBefore reports whether a hold ended before its node was deleted, by how both ended. A client ends its lease
// before it sends the deletion, or the end of its session. Any other deletion is news to the client.
func endsBefore(hold records.How, node history.How) bool {
	switch node {
	case history.Released, history.GaveUp:
		return isReleased(hold)
	case history.Closed:
		return hold != records.Open
	default:
		return false
	}
}

// isReleased reports whether the client ended the hold itself.
func isReleased(how records.How) bool {
	return how == records.Released || how == records.HandedOver || how == records.Retained
}
