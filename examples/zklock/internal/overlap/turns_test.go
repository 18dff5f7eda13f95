package overlap_test

import (
	"testing"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/overlap"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

func TestALostHoldEndedBeforeTheNodeOfALaterHoldOfItsProcess(t *testing.T) {
	type c = history.Contender
	type r = records.Record
	mutex, reader, released, expired := survey.Mutex, survey.Reader, history.Released, history.Expired
	judgeAll(t, map[string]pairing{
		"its process held again, and released that, before the second began": {
			nodes: []c{node(mutex, 10, 20, expired), node(mutex, 22, 30, released), node(mutex, 24, 40, released)},
			records: []r{
				by(hold(10, 10, 15, records.Lost), "p"), by(after(hold(22, 22, 25, records.Released), 10), "p"), after(hold(24, 24, 35, records.Released), 22),
			},
			want: overlap.Apart,
		},
		"its process held again, and the second began before the end of that": {
			nodes: []c{node(mutex, 10, 20, expired), node(mutex, 12, 30, released), node(mutex, 22, 40, released)},
			records: []r{
				by(hold(10, 10, 15, records.Lost), "p"), after(hold(12, 12, 25, records.Released), 10), by(after(hold(22, 22, 35, records.Released), 12), "p"),
			},
			want: overlap.Unknown, why: "1 undecided",
		},
		"another process held, and released that, before the third began": {
			nodes: []c{node(mutex, 10, 20, expired), node(reader, 22, 30, released), node(mutex, 24, 40, released)},
			records: []r{
				by(hold(10, 10, 15, records.Lost), "p"), by(after(hold(22, 22, 25, records.Released), 10), "q"), after(hold(24, 24, 35, records.Released), 22),
			},
			want: overlap.Unknown, why: "2 undecided",
		},
		"its process held again, in a hold of which the begin was not recorded": {
			nodes: []c{node(mutex, 10, 20, expired), node(reader, 22, 30, released), node(mutex, 24, 40, released)},
			records: []r{
				by(hold(10, 10, 15, records.Lost), "p"),
				func() r {
					h := by(after(hold(22, 22, 25, records.Released), 10), "p")
					h.Czxid, h.Session = 0, 0
					return h
				}(),
				after(hold(24, 24, 35, records.Released), 22),
			},
			want: overlap.Unknown, why: "2 undecided",
		},
		"its process held again, and what it had seen contradicts its clock": {
			nodes: []c{node(mutex, 10, 20, expired), node(mutex, 22, 30, released), node(mutex, 24, 40, released)},
			records: []r{
				func() r { h := by(hold(10, 10, 15, records.Released), "p"); h.End.Zxid = 45; return h }(),
				by(after(hold(22, 22, 25, records.Released), 10), "p"), after(hold(24, 24, 35, records.Released), 22),
			},
			want: overlap.Overlapped, why: "2 overlapped",
		},
		"its process held again, and the lost one lasted when its recorder was closed": {
			nodes: []c{node(mutex, 10, 20, expired), node(reader, 22, 30, released), node(mutex, 24, 40, released)},
			records: []r{
				by(hold(10, 10, 15, records.Open), "p"), by(after(hold(22, 22, 25, records.Released), 10), "p"), after(hold(24, 24, 35, records.Released), 22),
			},
			want: overlap.Unknown, why: "2 undecided",
		},
	})
}
