package txnlog_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// e1 to e3 are the zxids before the first ones of epochs.
const e1, e2, e3 int64 = 1 << 32, 2 << 32, 3 << 32

// A server is what is in a directory. Each log is its zxids.
type server struct {
	member    string
	logs      [][]int64
	snapshots []int64
}

func (s server) write(t *testing.T) (dir string) {
	t.Helper()
	files := map[string][]byte{}
	for _, log := range s.logs {
		var records []record
		for _, zxid := range log {
			records = append(records, made(zxid, 7, fmt.Sprintf("/%x", zxid)))
		}
		files[fmt.Sprintf("log.%x", log[0])] = append(logOf(records...), make([]byte, 50)...)
	}
	for _, zxid := range s.snapshots {
		files[fmt.Sprintf("snapshot.%x", zxid)] = snapshotOf()
	}
	if s.member != "" {
		files["myid"] = []byte(s.member + "\n")
	}
	return write(t, files)
}

func open(t *testing.T, servers ...server) (shown []int64, log *txnlog.Log) {
	t.Helper()
	var dirs []string
	for _, s := range servers {
		dirs = append(dirs, s.write(t))
	}
	log, err := txnlog.Open("/", dirs...)
	if err != nil {
		t.Fatal(err)
	}
	for transaction := range log.Transactions() {
		if !transaction.At.IsZero() {
			shown = append(shown, transaction.Zxid)
		}
	}
	return shown, log
}

// The third server has logged what follows the end of epoch 1. It shows what was executed before only if it lacks
// nothing.
func TestTransactionsAreLeftOutOnlyByAWitness(t *testing.T) {
	zero := []int64{0}
	deposed := server{"1", [][]int64{{e1 + 1, e1 + 2}}, zero}
	behind := server{"2", [][]int64{{e1 + 1}}, zero}
	follows := [][]int64{{e1 + 1}, {e2 + 1}}
	for name, test := range map[string]struct {
		servers []server
		witness bool
		unseen  bool
	}{
		"it has all its snapshots":                       {[]server{deposed, behind, {"3", follows, zero}}, true, false},
		"it has a snapshot of the end":                   {[]server{deposed, behind, {"3", follows, []int64{0, e1 + 1}}}, true, false},
		"it has no snapshot":                             {[]server{deposed, behind, {"3", follows, nil}}, false, true},
		"its older snapshots are removed":                {[]server{deposed, behind, {"3", follows, []int64{e2 + 1}}}, false, true},
		"it got a snapshot":                              {[]server{deposed, behind, {"3", follows, []int64{0, e1 + 2}}}, false, true},
		"it got a snapshot from a leader":                {[]server{deposed, behind, {"3", follows, []int64{0, e2}}}, false, true},
		"another got a snapshot from a leader":           {[]server{deposed, {"2", [][]int64{{e1 + 1}, {e2 + 1}}, []int64{0, e2}}, {"3", follows, zero}}, true, false},
		"another one contradicts":                        {[]server{{"1", [][]int64{{e1 + 1, e1 + 2, e2 + 1}}, zero}, behind, {"3", follows, zero}}, false, true},
		"another one, which is none, contradicts":        {[]server{{"1", [][]int64{{e1 + 1, e1 + 2, e2 + 1}}, nil}, behind, {"3", follows, zero}}, true, false},
		"not most lack it":                               {[]server{deposed, {"3", follows, zero}}, false, false},
		"not most lack it, since a log is removed":       {[]server{deposed, {"2", [][]int64{{e2 + 1}}, []int64{e2}}, {"3", follows, zero}}, false, false},
		"one has logged nothing before":                  {[]server{deposed, {"2", [][]int64{{e2 + 1}}, []int64{0, e2}}, {"3", follows, zero}}, true, false},
		"a whole epoch that most have":                   {[]server{{"1", [][]int64{{e1 + 1, e1 + 2}}, zero}, {"2", [][]int64{{e1 + 1, e1 + 2}}, zero}, {"3", follows, zero}}, false, false},
		"the snapshots of all are elsewhere":             {[]server{{"", deposed.logs, nil}, {"", behind.logs, nil}, {"", follows, nil}, {"1", nil, zero}, {"2", nil, zero}, {"3", nil, zero}}, true, false},
		"the snapshots of all are elsewhere, and it got": {[]server{{"", deposed.logs, nil}, {"", behind.logs, nil}, {"", follows, nil}, {"1", nil, zero}, {"2", nil, zero}, {"3", nil, []int64{0, e2}}}, false, true},
		"snapshots of one are missing":                   {[]server{{"", deposed.logs, nil}, {"", behind.logs, nil}, {"", follows, nil}, {"1", nil, zero}, {"2", nil, zero}}, false, true},
		"a server without a log has snapshots":           {[]server{deposed, {"2", nil, zero}, {"3", follows, nil}}, false, true},
	} {
		shown, log := open(t, test.servers...)
		kinds := map[txnlog.NoteKind]bool{}
		for _, n := range log.Notes {
			kinds[n.Kind] = true
		}
		if kinds[txnlog.Deposed] != test.witness || kinds[txnlog.Unproven] == test.witness || kinds[txnlog.Unseen] != test.unseen {
			t.Errorf("%s: got the notes\n\t%v\nwant a witness: %v, unseen: %v", name, notes(log), test.witness, test.unseen)
		}
		if got := slices.Contains(shown, e1+2); got == test.witness {
			t.Errorf("%s: got %#x shown %v, want %v", name, e1+2, got, !test.witness)
		}
	}
}

// The middle log of the witness is damaged, or it ends within a record.
func TestServerWithDamagedLogsIsNoWitness(t *testing.T) {
	for name, damage := range map[string]func(log []byte) []byte{
		"a body":      func(log []byte) []byte { log[40] ^= 1; return log },
		"cut short":   func(log []byte) []byte { return log[:len(log)-60] },
		"behind zero": func(log []byte) []byte { return append(log, 1) },
	} {
		deposed := server{"1", [][]int64{{e1 + 1, e1 + 2, e1 + 3}}, []int64{0}}.write(t)
		behind := server{"2", [][]int64{{e1 + 1}}, []int64{0}}.write(t)
		log := append(logOf(made(e1+2, 7, "/x")), make([]byte, 50)...)
		damaged := write(t, map[string][]byte{
			"log.100000001": logOf(made(e1+1, 7, "/x")), "log.100000002": damage(log), "log.200000001": logOf(made(e2+1, 7, "/y")), "snapshot.0": snapshotOf(),
		})
		_, got := replayed(t, "/", deposed, behind, damaged)
		if slices.ContainsFunc(got.Notes, func(n txnlog.Note) bool { return n.Kind == txnlog.Deposed }) {
			t.Errorf("%s: got %v, want nothing left out", name, notes(got))
		}
	}
}

// At the begin of an epoch, any log goes on where another one ends.
func TestDirectoriesOfTwoServersAreNotJoined(t *testing.T) {
	zero := []int64{0}
	shown, log := open(t,
		server{"", [][]int64{{e1 + 1, e1 + 2}}, zero}, // and deposed
		server{"", [][]int64{{e1 + 1}, {e2 + 1}}, zero},
		server{"", [][]int64{{e2 + 1}}, nil})
	if want := []int64{e1 + 1, e1 + 2, e2 + 1}; !slices.Equal(shown, want) || !log.Incomplete {
		t.Errorf("an epoch's begin: got %#x, incomplete %v, want %#x, and a note: %v", shown, log.Incomplete, want, notes(log))
	}
	wantNotes(t, "an epoch's begin", log, "0x100000002 to 0x100000002 may not have been executed: the logs")

	// If the first and the second were one server, two of three would have the newest.
	_, log = open(t,
		server{"", [][]int64{{e1 + 1}}, zero},
		server{"", [][]int64{{e2 + 1, e2 + 2}}, nil},
		server{"", [][]int64{{e1 + 1}, {e2 + 1}, {e2 + 2}}, zero},
		server{"", [][]int64{{e1 + 1}, {e2 + 1}}, zero})
	unconfirmed := func(n txnlog.Note) bool { return n.Kind == txnlog.Unconfirmed && n.First == e2+2 }
	if !slices.ContainsFunc(log.Notes, unconfirmed) {
		t.Errorf("the newest: got %v, want that %#x may not have been executed", notes(log), e2+2)
	}

	// Within an epoch, two servers look like one. The second got a snapshot of epoch 2, which is elsewhere.
	shown, log = open(t,
		server{"", [][]int64{{e1 + 1, e1 + 2}}, zero},
		server{"", [][]int64{{e1 + 3}, {e3 + 1}}, nil},
		server{"", [][]int64{{e1 + 1, e1 + 2, e1 + 3}, {e2 + 1}}, zero},
		server{"", [][]int64{{e1 + 1, e1 + 2, e1 + 3}}, zero})
	if !slices.Contains(shown, e2+1) || !log.Incomplete {
		t.Errorf("within an epoch: got %#x, incomplete %v, want %#x shown, and a note: %v", shown, log.Incomplete, e2+1, notes(log))
	}
}

// No log has the second epoch.
func TestLogSaysThatAnEpochMayBeMissing(t *testing.T) {
	_, log := open(t, server{"1", [][]int64{{e1 + 1}}, []int64{0}}, server{"2", [][]int64{{e3 + 1}}, []int64{e2 + 9}}, server{"3", [][]int64{{e1 + 1}, {e3 + 1}}, nil})
	if !slices.ContainsFunc(log.Notes, func(n txnlog.Note) bool { return n.Kind == txnlog.Unseen && n.First == e1+2 && n.Last == e3 }) || !log.Incomplete {
		t.Errorf("got %v, want one of kind Unseen from %#x to %#x", notes(log), e1+2, e3)
	}
}
