package overlap_test

import (
	"testing"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/overlap"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

func TestNodesWithoutRecordsAndRecordsWithoutNodesAreFound(t *testing.T) {
	type c = history.Contender
	type r = records.Record
	mutex, released, expired := survey.Mutex, history.Released, history.Expired
	judgeAll(t, map[string]pairing{
		"no record": {
			nodes: []c{node(mutex, 10, 20, released)},
			want:  overlap.Unknown, why: "let in, then released, and no record of it: n10",
		},
		"no record of what gave up": {
			nodes: []c{node(mutex, 10, 20, released), func() c {
				n := node(mutex, 12, 30, history.GaveUp)
				n.LetIn = txnlog.Moment{}
				return n
			}()},
			records: []r{hold(10, 10, 15, records.Released)},
			want:    overlap.Apart,
		},
		"what lasts after a release": {
			nodes: []c{node(mutex, 10, 20, released), func() c {
				n := node(mutex, 12, 0, "")
				n.LetIn = at(20)
				return n
			}()},
			records: []r{hold(10, 10, 15, records.Released)},
			want:    overlap.Apart,
		},
		"what lasts after a loss": {
			nodes:   []c{node(mutex, 10, 20, expired), node(mutex, 12, 0, "")},
			records: []r{hold(10, 10, 15, records.Lost)},
			want:    overlap.Unknown, why: "no record: its node is still there",
		},
		"a retained node that lasts after another's loss": {
			nodes:   []c{node(mutex, 10, 20, expired), node(mutex, 12, 0, "")},
			records: []r{by(hold(10, 10, 15, records.Lost), "p"), by(hold(12, 21, 25, records.Retained), "p")},
			want:    overlap.Unknown, why: "no record: its node is still there",
		},
		"no record of what is older than the logs": {
			nodes: []c{func() c {
				n := node(mutex, 10, 20, released)
				n.LetIn, n.LetInEarlier = txnlog.Moment{}, true
				return n
			}(), node(mutex, 12, 30, released)},
			records: []r{after(hold(12, 20, 25, records.Released), 10)},
			want:    overlap.Unknown, why: "let in, then released, and no record of it: n10",
		},
		"handed over to a hold without a record": {
			nodes:   []c{node(mutex, 10, 20, released)},
			records: []r{hold(10, 10, 12, records.HandedOver)},
			want:    overlap.Unknown, why: "handed over, and no record of the next hold: n10",
		},
		"retained, and released later": {
			nodes:   []c{node(mutex, 10, 20, released)},
			records: []r{hold(10, 10, 12, records.Retained)},
			want:    overlap.Apart,
		},
		"retained, then its client was killed": {
			nodes:   []c{node(mutex, 10, 20, expired)},
			records: []r{hold(10, 10, 12, records.Retained)},
			want:    overlap.Unknown, why: "retained, then expired",
		},
		"no record of a hold between two": {
			nodes: []c{node(mutex, 10, 20, released)},
			records: []r{
				by(hold(10, 10, 12, records.HandedOver), "p"),
				func() r { h := by(hold(10, 13, 14, records.Released), "p"); h.Count = 2; return h }(),
			},
			want: overlap.Unknown, why: "held 3 times at least, of which there are 2 records: n10",
		},
		"two records of one hold": {
			nodes:   []c{node(mutex, 10, 20, released)},
			records: []r{hold(10, 10, 15, records.HandedOver), hold(10, 15, 16, records.Released)},
			want:    overlap.Unknown, why: "two records of one hold, which differ: n10",
		},
		"no node": {
			nodes:   []c{node(mutex, 10, 20, released)},
			records: []r{hold(10, 10, 15, records.Released), hold(13, 13, 14, records.Released)},
			want:    overlap.Unknown, why: "a record of a node that is not in the logs: n13",
		},
		"a node that is older than the logs": {
			nodes:   []c{node(mutex, 10, 20, released)},
			records: []r{hold(10, 10, 15, records.Released), hold(3, 3, 4, records.Released), hold(2, 2, 2, records.Lost)},
			want:    overlap.Unknown, why: "2 recorded holds have nodes that are older than the logs, which do not show when these holds ended; the first: n3",
		},
		"a node that is newer than the logs": {
			nodes:   []c{node(mutex, 10, 20, released)},
			records: []r{hold(10, 10, 15, records.Released), hold(130, 130, 140, records.Released)},
			want:    overlap.Unknown, why: "1 recorded holds have nodes that are newer than the logs, which do not show whether these overlapped; the first: n130",
		},
		"none but nodes outside of the logs": {
			records: []r{hold(3, 3, 4, records.Released), hold(130, 130, 140, records.Released)},
			want:    overlap.Unknown, why: "2 undecided, by 0 recorded holds (2 more are outside of the logs)",
		},
		"one of another library gave up, and may have held": {
			nodes:   []c{node(mutex, 10, 20, released), waiting(survey.KazooLock, 12, 15, history.GaveUp)},
			records: []r{hold(10, 10, 15, records.Released)},
			mixed:   []string{"they were mixed"},
			want:    overlap.Unknown, why: "not let in by this library's rule, by its own it may have been, and no record of it: n12",
		},
		"one of another library waits, and may hold": {
			nodes:   []c{node(mutex, 10, 20, released), waiting(survey.KazooLock, 12, 0, "")},
			records: []r{hold(10, 10, 15, records.Released)},
			mixed:   []string{"they were mixed"},
			want:    overlap.Unknown, why: "nothing is known to have overlapped, 1 undecided",
		},
		"all that may have held beside others have records": {
			nodes:   []c{node(mutex, 10, 20, released), node(survey.KazooLock, 22, 30, released)},
			records: []r{hold(10, 10, 15, records.Released), hold(22, 22, 25, records.Released)},
			mixed:   []string{"they were mixed"},
			want:    overlap.Apart, why: "holds may have overlapped: they were mixed",
		},
		"one process, a hold that lasted when its recorder was closed": {
			nodes:   []c{node(mutex, 10, 20, expired), node(mutex, 12, 30, released)},
			records: []r{by(hold(10, 10, 14, records.Open), "p"), by(hold(12, 21, 25, records.Released), "p")},
			want:    overlap.Unknown, why: "a hold lasted when its recorder was closed, so their clocks say nothing",
		},
		"the one that let it in went in a gap of the logs": {
			nodes:   []c{inGap(node(mutex, 8, 39, history.Unknown)), node(mutex, 9, 30, released), node(mutex, 10, 50, released)},
			records: []r{hold(8, 8, 8, records.Released), hold(9, 9, 25, records.Released), after(hold(10, 10, 45, records.Released), 8)},
			want:    overlap.Unknown, why: "2 undecided",
		},
		"what lasts was let in in a gap of the logs": {
			nodes: []c{node(mutex, 8, 30, released), func() c {
				n := node(mutex, 12, 0, "")
				n.LetIn = txnlog.Moment{Zxid: 39}
				return n
			}()},
			records: []r{hold(8, 8, 20, records.Released)},
			want:    overlap.Unknown, why: "no record: its node is still there",
		},
		"two records of one hold, by two processes": {
			nodes: []c{node(mutex, 10, 20, released)},
			records: []r{
				by(hold(10, 10, 12, records.HandedOver), "p"), by(hold(10, 10, 12, records.HandedOver), "q"),
				func() r { h := by(hold(10, 13, 14, records.Released), "p"); h.Count = 2; return h }(),
			},
			want: overlap.Unknown, why: "two records of one hold, which differ: n10",
		},
		"another token": {
			nodes:   []c{node(mutex, 10, 20, released)},
			records: []r{func() r { h := hold(10, 10, 15, records.Released); h.Czxid = 11; return h }()},
			want:    overlap.Unknown, why: "the record has the token 11, the logs have 10",
		},
		"another session": {
			nodes:   []c{node(mutex, 10, 20, released)},
			records: []r{func() r { h := hold(10, 10, 15, records.Released); h.Session = 11; return h }()},
			want:    overlap.Unknown, why: "the record has the session 0xb, the logs have 0xa",
		},
		"begun after the end of its node": {
			nodes:   []c{node(mutex, 10, 20, released)},
			records: []r{hold(10, 21, 22, records.Released)},
			want:    overlap.Unknown, why: "began after its client had seen transaction 21, and its node was deleted by 20",
		},
		"a file that was given twice": {
			nodes:   []c{node(mutex, 10, 20, released)},
			records: []r{hold(10, 10, 15, records.Released), hold(10, 10, 15, records.Released)},
			want:    overlap.Apart, why: "by 1 recorded holds",
		},
	})
}
