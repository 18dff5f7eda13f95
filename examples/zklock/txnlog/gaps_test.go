package txnlog_test

import (
	"fmt"
	"testing"
)

// The snapshot after each gap says what came and went in it.
func TestLogTakesWhatHappenedInAGapFromTheNextSnapshot(t *testing.T) {
	const e2, e3 int64 = 2 << 32, 3 << 32
	const one = "one server of an ensemble"
	a, b, c := snapNode{"/l/a", "x", 1, 7}, snapNode{"/l/b", "x", 5, 8}, snapNode{"/l/c", "x", 2, 9}
	set := record{zxid: 5, session: 7, kind: setData, body: text(text(nil, "/l/a"), "x")}
	for name, test := range map[string]struct {
		files map[string][]byte
		want  []string
		notes []string
	}{
		"a node that came and stays": {
			map[string][]byte{"log.1": logOf(made(1, 7, "/l/a")), "log.9": logOf(made(9, 9, "/l/d")), "snapshot.8": snapshotOf(a, b)},
			[]string{"1 Created /l/a of 7", "5 Created /l/b of 8", "9 Created /l/d of 9"},
			[]string{"from zxid 0x2 to 0x8"},
		},
		"one that came, and goes with its session": {
			map[string][]byte{
				"log.1": logOf(made(1, 7, "/l/a")), "log.9": logOf(record{zxid: 9, session: 8, kind: closeSession}), "snapshot.8": snapshotOf(a, b),
			},
			[]string{"1 Created /l/a of 7", "5 Created /l/b of 8", "9 Deleted /l/b of 8"},
			[]string{"from zxid 0x2 to 0x8"},
		},
		"one that was made a second time": {
			map[string][]byte{"log.1": logOf(made(1, 7, "/l/b")), "log.9": logOf(made(9, 9, "/l/d")), "snapshot.8": snapshotOf(b)},
			[]string{"1 Created /l/b of 7", "4 Deleted /l/b of 7 ?", "5 Created /l/b of 8", "9 Created /l/d of 9"},
			[]string{"from zxid 0x2 to 0x8"},
		},
		"one that a log makes a second time": {
			map[string][]byte{"log.1": logOf(made(1, 7, "/l/a")), "log.9": logOf(made(9, 8, "/l/a"))},
			[]string{"1 Created /l/a of 7", "8 Deleted /l/a of 7 ?", "9 Created /l/a of 8"},
			[]string{"from zxid 0x2 to 0x8"},
		},
		"one that was there behind the gap, and that a fuzzy snapshot lacks": {
			map[string][]byte{
				"log.1": logOf(made(1, 7, "/l/a")), "log.5": logOf(set), "log.9": logOf(made(9, 9, "/l/d")), "snapshot.4": snapshotOf(),
			},
			[]string{"1 Created /l/a of 7", "5 DataSet /l/a", "9 Created /l/d of 9"},
			[]string{"from zxid 0x2 to 0x4", "from zxid 0x6 to 0x8"},
		},
		"one that a transaction replaces": {
			map[string][]byte{
				"log.1": logOf(made(1, 7, "/l/a")),
				"log.9": logOf(record{zxid: 9, session: 8, kind: multi, body: parts(remove, text(nil, "/l/a"), create, created("/l/a", "", 1))}),
			},
			[]string{"1 Created /l/a of 7", "9 Deleted /l/a of 7", "9 Created /l/a of 8"},
			[]string{"from zxid 0x2 to 0x8"},
		},
		"one that went in the second gap, since it was there before": {
			map[string][]byte{"log.1": logOf(made(1, 7, "/l/a")), "log.5": logOf(set), "log.9": logOf(made(9, 9, "/l/d")), "snapshot.9": snapshotOf()},
			[]string{"1 Created /l/a of 7", "5 DataSet /l/a", "8 Deleted /l/a of 7 ?", "9 Created /l/d of 9"},
			[]string{"from zxid 0x2 to 0x4", "from zxid 0x6 to 0x8"},
		},
		"one that a snapshot between two gaps has": {
			map[string][]byte{
				"log.1": logOf(made(1, 7, "/l/a"), made(2, 9, "/l/c")), "log.5": logOf(made(5, 8, "/l/b")), "log.9": logOf(made(9, 9, "/l/d")),
				"snapshot.4": snapshotOf(c), "snapshot.8": snapshotOf(b),
			},
			[]string{"1 Created /l/a of 7", "2 Created /l/c of 9", "4 Deleted /l/a of 7 ?", "5 Created /l/b of 8", "8 Deleted /l/c of 9 ?", "9 Created /l/d of 9"},
			[]string{"from zxid 0x3 to 0x4", "from zxid 0x6 to 0x8"},
		},
		"the next snapshot is damaged": {
			map[string][]byte{
				"log.1": logOf(made(1, 7, "/l/a")), "log.9": logOf(made(9, 9, "/l/d")), "snapshot.8": snapshotOf()[:60], "snapshot.9": snapshotOf(b),
			},
			[]string{"1 Created /l/a of 7", "5 Created /l/b of 8", "8 Deleted /l/a of 7 ?", "9 Created /l/d of 9"},
			[]string{"snapshot.8: ", "from zxid 0x2 to 0x8", "snapshot.8: "},
		},
		"a whole epoch": {
			map[string][]byte{
				"log.1": logOf(made(1, 7, "/l/a")), "log.300000001": logOf(made(e3+1, 9, "/l/d")),
				"snapshot.2000000ff": snapshotOf(snapNode{"/l/b", "x", e2 + 5, 8}),
			},
			[]string{
				"1 Created /l/a of 7", fmt.Sprint(e2+5, " Created /l/b of 8"), fmt.Sprint(e2+255, " Deleted /l/a of 7 ?"),
				fmt.Sprint(e3+1, " Created /l/d of 9"),
			},
			[]string{"255 transactions are in no log, from zxid 0x200000001 to 0x2000000ff", one},
		},
		"the end of an epoch": {
			map[string][]byte{"log.1": logOf(made(1, 7, "/l/a")), "log.200000001": logOf(made(e2+1, 9, "/l/d")), "snapshot.3": snapshotOf(a, c)},
			[]string{"1 Created /l/a of 7", "2 Created /l/c of 9", fmt.Sprint(e2+1, " Created /l/d of 9")},
			[]string{"from zxid 0x2 to 0x3", one},
		},
		"the end of the logs": {
			map[string][]byte{"log.1": logOf(made(1, 7, "/l/a")), "snapshot.8": snapshotOf(b)},
			[]string{"1 Created /l/a of 7", "5 Created /l/b of 8", "8 Deleted /l/a of 7 ?"},
			[]string{"from zxid 0x2 to 0x8"},
		},
		"an epoch without a transaction": {
			map[string][]byte{"log.1": logOf(made(1, 7, "/l/a")), "log.300000001": logOf(made(e3+1, 9, "/l/d")), "snapshot.200000000": snapshotOf(a)},
			[]string{"1 Created /l/a of 7", fmt.Sprint(e3+1, " Created /l/d of 9")},
			[]string{one},
		},
		"empty logs": {
			map[string][]byte{"log.9": nil, "snapshot.8": snapshotOf(a, b)}, []string{"1 Created /l/a of 7", "5 Created /l/b of 8"}, []string{"log.9: ends in the header, or is empty: its server"},
		},
	} {
		got, log := replayed(t, "/l", write(t, test.files))
		wantLines(t, name, got, test.want...)
		wantNotes(t, name, log, test.notes...)
	}
}
