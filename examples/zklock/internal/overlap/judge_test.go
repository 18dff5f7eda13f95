package overlap_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/overlap"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

var midnight = time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)

// at is a moment of the servers, a transaction each second.
func at(zxid int64) txnlog.Moment {
	if zxid == 0 {
		return txnlog.Moment{}
	}
	return txnlog.Moment{Zxid: zxid, At: midnight.Add(time.Duration(zxid) * time.Second)}
}

// node is a contender, let in at once, whose name is its zxid.
func node(kind survey.Kind, created, deleted int64, how history.How) history.Contender {
	return history.Contender{
		Node: fmt.Sprint("n", created), Kind: kind, Session: created, Token: created, Czxid: created,
		Queued: at(created), LetIn: at(created), Ended: at(deleted), How: how, EndedBy: created,
	}
}

// hold is a record of the node with that zxid. Its times are those of its zxids.
func hold(node, from, to int64, how records.How) records.Record {
	return records.Record{
		Path: "/a", Node: fmt.Sprint("n", node), Session: records.SessionID(node), Czxid: node, Process: fmt.Sprint("p", node), How: how,
		Begin: records.Moment{Time: at(from).At, Zxid: from}, End: records.Moment{Time: at(to).At, Zxid: to},
	}
}

func after(r records.Record, node int64) records.Record { r.After = fmt.Sprint("n", node); return r }

func timeless(r records.Record) records.Record {
	r.Begin.Time, r.End.Time = time.Time{}, time.Time{}
	return r
}

// waiting is a node that was never let in.
func waiting(kind survey.Kind, created, deleted int64, how history.How) history.Contender {
	c := node(kind, created, deleted, how)
	c.LetIn = txnlog.Moment{}
	return c
}

// inGap is a node that went at a time that is not known, at the zxid of its end or before.
func inGap(c history.Contender) history.Contender { c.Ended.At = time.Time{}; return c }

func by(r records.Record, process string) records.Record { r.Process = process; return r }

// A pairing is a lock's nodes with the records of its holds, and what is to be said of them.
type pairing struct {
	nodes   []history.Contender
	records []records.Record
	limit   int
	mixed   []string // the lock's MayOverlap
	want    overlap.Verdict
	why     string // in the text, unless empty
}

func judgeAll(t *testing.T, all map[string]pairing) {
	t.Helper()
	for name, test := range all {
		got := overlap.Judge(overlap.Input{
			Lock: history.Lock{Path: "/a", Limit: max(test.limit, 1), Contenders: test.nodes, MayOverlap: test.mixed}, From: 5, To: 100,
			LimitKnown: test.limit > 0, Records: test.records,
		})
		text := overlap.Text([]overlap.Result{got}, nil)
		if got.Verdict != test.want || !strings.Contains(text, test.why) {
			t.Errorf("%s: got %s, want %s and %q:\n%s", name, got.Verdict, test.want, test.why, text)
		}
	}
}

func TestPairsAreJudgedByWhatTheirClientsHadSeen(t *testing.T) {
	type c = history.Contender
	type r = records.Record
	mutex, reader, writer, lease := survey.Mutex, survey.Reader, survey.Writer, survey.Lease
	released, expired, closed := history.Released, history.Expired, history.Closed
	judgeAll(t, map[string]pairing{
		"no hold": {want: overlap.Unknown, why: "nothing to judge"},
		"one after the other, by a listing": {
			nodes:   []c{node(mutex, 10, 20, released), node(mutex, 12, 30, released)},
			records: []r{hold(10, 10, 15, records.Released), hold(12, 20, 25, records.Released)},
			want:    overlap.Apart, why: "nothing overlapped, by 2 recorded holds",
		},
		"one after the other, by an event": {
			nodes:   []c{node(mutex, 10, 20, released), node(mutex, 12, 30, released)},
			records: []r{hold(10, 10, 15, records.Released), after(hold(12, 12, 25, records.Released), 10)},
			want:    overlap.Apart,
		},
		"the second had seen nothing of the first's end": {
			nodes:   []c{node(mutex, 10, 20, released), node(mutex, 12, 30, released)},
			records: []r{hold(10, 10, 15, records.Released), hold(12, 12, 25, records.Released)},
			want:    overlap.Unknown, why: "by their own clocks they overlapped for 3s",
		},
		"the first went on after its session, until the second was over": {
			nodes:   []c{node(mutex, 10, 20, expired), node(mutex, 12, 30, released)},
			records: []r{hold(10, 10, 31, records.Released), after(hold(12, 12, 25, records.Released), 10)},
			want:    overlap.Overlapped, why: "lasted until after its client had seen transaction 31, and its node was deleted by 20",
		},
		"the first went on, until a time within the second": {
			nodes:   []c{node(mutex, 10, 20, expired), node(mutex, 12, 30, released)},
			records: []r{hold(10, 10, 26, records.Released), after(hold(12, 12, 25, records.Released), 10)},
			want:    overlap.Unknown, why: "by their own clocks they overlapped for 13s",
		},
		"the first lost it": {
			nodes:   []c{node(mutex, 10, 20, expired), node(mutex, 12, 30, released)},
			records: []r{hold(10, 10, 15, records.Lost), after(hold(12, 21, 25, records.Released), 10)},
			want:    overlap.Unknown, why: "the one ended 6s before the other began",
		},
		"a client that noticed late is not accused of what it had seen then": {
			nodes:   []c{node(mutex, 10, 20, expired), node(mutex, 12, 30, released)},
			records: []r{hold(10, 10, 40, records.Lost), after(hold(12, 21, 25, records.Released), 10)},
			want:    overlap.Unknown,
		},
		"the first lost it, since its own session deleted the node": {
			nodes:   []c{node(mutex, 10, 20, released), node(mutex, 12, 30, released)},
			records: []r{hold(10, 10, 15, records.Lost), after(hold(12, 21, 25, records.Released), 10)},
			want:    overlap.Unknown,
		},
		"one process, one clock": {
			nodes:   []c{node(mutex, 10, 20, expired), node(mutex, 12, 30, released)},
			records: []r{by(hold(10, 10, 15, records.Lost), "p"), by(hold(12, 21, 25, records.Released), "p")},
			want:    overlap.Apart,
		},
		"a lost hold is reported with the next alone": {
			nodes:   []c{node(mutex, 10, 20, expired), node(mutex, 12, 30, released), node(mutex, 14, 40, released)},
			records: []r{hold(10, 10, 15, records.Lost), after(hold(12, 21, 25, records.Released), 10), after(hold(14, 31, 35, records.Released), 12)},
			want:    overlap.Unknown, why: "1 undecided",
		},
		"its client closed the session": {
			nodes:   []c{node(mutex, 10, 20, closed), node(mutex, 12, 30, released)},
			records: []r{hold(10, 10, 15, records.Lost), after(hold(12, 12, 25, records.Released), 10)},
			want:    overlap.Apart,
		},
		"two holds of one retained node": {
			nodes: []c{node(mutex, 10, 20, released)},
			records: []r{
				by(hold(10, 10, 12, records.HandedOver), "p"),
				func() r { h := by(hold(10, 13, 14, records.Released), "p"); h.Count = 1; return h }(),
			},
			want: overlap.Apart, why: "2 recorded holds",
		},
		"one process, without its times": {
			nodes:   []c{node(mutex, 10, 20, expired), node(mutex, 12, 30, released)},
			records: []r{timeless(by(hold(10, 10, 15, records.Lost), "p")), timeless(by(hold(12, 21, 25, records.Released), "p"))},
			want:    overlap.Unknown, why: "a time is not known",
		},
		"one process, a begin that was not recorded": {
			nodes: []c{node(mutex, 10, 20, expired), node(mutex, 12, 30, released)},
			records: []r{by(hold(10, 10, 15, records.Lost), "p"), func() r {
				h := by(hold(12, 21, 25, records.Released), "p")
				h.Czxid, h.Session = 0, 0
				return h
			}()},
			want: overlap.Unknown,
		},
		"a later hold of a writer that had gone on as a reader": {
			nodes: []c{node(writer, 10, 40, released), func() c {
				n := node(reader, 15, 60, released)
				n.Token, n.Session = 10, 10
				return n
			}()},
			records: []r{
				by(hold(10, 10, 16, records.Retained), "p"),
				func() r { h := by(hold(10, 22, 35, records.Released), "p"); h.Count = 1; return h }(),
				func() r { h := by(hold(15, 15, 50, records.Released), "p"); h.Czxid, h.Session = 10, 10; return h }(),
			},
			want: overlap.Unknown, why: "1 undecided",
		},
		"readers": {
			nodes:   []c{node(reader, 10, 20, released), node(reader, 12, 30, released)},
			records: []r{hold(10, 10, 15, records.Released), hold(12, 12, 25, records.Released)},
			want:    overlap.Apart,
		},
		"a writer among readers": {
			nodes:   []c{node(reader, 10, 40, released), node(writer, 12, 30, released)},
			records: []r{hold(10, 10, 35, records.Released), hold(12, 12, 25, records.Released)},
			want:    overlap.Unknown,
		},
		"a writer within a reader's hold": {
			nodes:   []c{node(reader, 10, 40, released), node(writer, 12, 30, released), node(mutex, 50, 60, released)},
			records: []r{hold(10, 10, 35, records.Released), hold(12, 12, 45, records.Released), hold(50, 50, 55, records.Released)},
			want:    overlap.Overlapped,
		},
		"a writer that went on as a reader": {
			nodes: []c{node(writer, 10, 20, released), func() c {
				n := node(reader, 15, 30, released)
				n.Token, n.Session = 10, 10
				return n
			}()},
			records: []r{hold(10, 10, 16, records.Released), func() r {
				h := hold(15, 15, 25, records.Released)
				h.Czxid, h.Session = 10, 10
				return h
			}()},
			want: overlap.Apart,
		},
		"leases within the limit": {
			nodes:   []c{node(lease, 10, 40, released), node(lease, 12, 50, released)},
			records: []r{hold(10, 10, 35, records.Released), hold(12, 12, 36, records.Released)},
			limit:   2, want: overlap.Apart,
		},
		"leases beyond the limit": {
			nodes:   []c{node(lease, 10, 40, expired), node(lease, 12, 45, expired), node(lease, 14, 50, expired)},
			records: []r{hold(10, 10, 60, records.Released), hold(12, 12, 61, records.Released), hold(14, 14, 62, records.Released)},
			limit:   2, want: overlap.Overlapped, why: "of these 3 each two overlapped, and the limit is 2",
		},
		"leases, perhaps beyond the limit": {
			nodes:   []c{node(lease, 10, 40, released), node(lease, 12, 45, released), node(lease, 14, 50, released)},
			records: []r{hold(10, 10, 35, records.Released), hold(12, 12, 36, records.Released), hold(14, 14, 37, records.Released)},
			limit:   2, want: overlap.Unknown, why: "3 leases may have been held at one time, and the limit is 2",
		},
		"a limit that is not known": {
			nodes:   []c{node(lease, 10, 40, released)},
			records: []r{hold(10, 10, 35, records.Released)},
			want:    overlap.Unknown, why: "say it with -limit",
		},
	})
}

func TestATimeThatNoJSONHasIsLeftOut(t *testing.T) {
	c := node(survey.Mutex, 10, 20, history.Released)
	c.LetIn.At = time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)
	got := overlap.Judge(overlap.Input{Lock: history.Lock{Path: "/a", Contenders: []history.Contender{c}}, From: 5, To: 100})
	if _, err := json.Marshal(got); err != nil || len(got.Findings) != 1 {
		t.Errorf("got %+v and the error %v, want one finding", got, err)
	}
}
