package overlap

import (
	"fmt"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// A chain is what the records of one node say together: a retained node has several holds, one after the other.
type chain struct {
	counts int64 // records, each with another count if they keep the rules
	last   int64 // the highest count, and of that record:
	how    records.How
	ended  int64 // the hold ended after this transaction
}

// extend adds a record, and after which transaction its hold ended.
func (c *chain) extend(rec *records.Record, ended int64) {
	c.counts++
	if c.counts == 1 || rec.Count >= c.last {
		c.last, c.how = rec.Count, rec.How
	}
	c.ended = max(c.ended, ended)
}

// stays reports whether the client went on with the node after the last recorded hold.
func (c *chain) stays() bool { return c.how == records.HandedOver || c.how == records.Retained }

// unrecorded finds holds of the servers' log that no client has recorded, and returns those that may last: a record
// comes with the end of a hold. Where clients of other libraries may have held that were not let in, it finds those as
// well.
func (j *judge) unrecorded(lock *history.Lock, chains map[string]*chain) (lasting []*Hold) {
	for i := range lock.Contenders {
		c := &lock.Contenders[i]
		known := chains[c.Node]
		if known == nil {
			known = &chain{last: -1}
		}
		what, lasts := "", c.Ended == (txnlog.Moment{})
		switch {
		case !c.In() && known.counts == 0 && len(lock.MayOverlap) == 0:
			continue
		case !c.In() && known.counts == 0:
			what = "not let in by this library's rule, by its own it may have been, and no record of it"
		case known.counts != known.last+1:
			what = fmt.Sprintf("held %d times at least, of which there are %d records", known.last+1, known.counts)
		case lasts:
		case known.counts == 0:
			what = fmt.Sprintf("let in, then %s, and no record of it", c.How)
		case known.how == records.HandedOver:
			what = "handed over, and no record of the next hold"
		case known.how == records.Retained && c.How != history.Released && c.How != history.Closed:
			what = fmt.Sprintf("retained, then %s: the client may have held it without a record", c.How)
		}
		if what != "" {
			j.find(Finding{what, c.Node, "", c.LetIn.At})
		}
		if lasts && (known.counts == 0 && c.In() || known.stays()) {
			h := &Hold{Who: c.Who, kind: c.Kind, token: c.Token}
			h.Record = records.Record{Path: c.Path, Node: c.Node, Session: records.SessionID(c.Session), Czxid: c.Token, Count: known.last + 1}
			began := max(certain(c.LetIn), c.Czxid, known.ended)
			h.Bounds = [4]int64{began, 0, began, 0}
			lasting = append(lasting, h)
		}
	}
	return lasting
}

// without is for a record without a node.
func (j *judge) without(in *Input, rec *records.Record) {
	switch {
	case rec.Czxid > in.To:
		j.newer.add(rec)
	case rec.Czxid == 0 || rec.Czxid >= in.From:
		j.find(Finding{"a record of a node that is not in the logs", rec.Node, rec.Process, rec.Begin.Time})
	default:
		j.older.add(rec)
	}
}
