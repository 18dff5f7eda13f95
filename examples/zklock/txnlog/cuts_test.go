package txnlog_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// Each log is the zxids of a server. What the logs do not refute is shown, with a word about it.
func TestLogLeavesOutOnlyWhatWasNotExecutedForSure(t *testing.T) {
	const e1, e2, e3 int64 = 1 << 32, 2 << 32, 3 << 32
	for name, test := range map[string]struct {
		logs     [][]int64
		snapshot string
		want     []int64
		notes    []string
	}{
		"the logs of the other epoch are removed": {
			[][]int64{{e1 + 1, e1 + 2}, {e2 + 5, e2 + 6}, {e2 + 5, e2 + 6}},
			"",
			[]int64{e1 + 1, e1 + 2, e2 + 5, e2 + 6},
			[]string{
				"0x100000003 to 0x200000000 may be missing", "in no log, from zxid 0x200000001",
				"0x100000001 to 0x100000002 may not have been executed: the logs that would show it are missing",
			},
		},
		"a server that may have led has lost its log": {
			[][]int64{{e1 + 1, e1 + 2, e1 + 3}, {e1 + 1, e2 + 1}, {e2 + 1}},
			"",
			[]int64{e1 + 1, e1 + 2, e1 + 3, e2 + 1},
			[]string{"0x100000002 to 0x100000003 may not have been executed: the logs"},
		},
		"a snapshot has more": {
			[][]int64{{e1 + 1, e1 + 2}, {e1 + 1, e2 + 1}, {e1 + 1, e2 + 1}},
			"snapshot.100000002",
			[]int64{e1 + 1, e1 + 2, e2 + 1},
			[]string{"0x100000002 to 0x100000002 may not have been executed: the logs"},
		},
		"a leader of whom only the second transaction is there": {
			[][]int64{{e1 + 1, e1 + 2}, {e1 + 1, e2 + 2}, {e1 + 1, e2 + 2}},
			"",
			[]int64{e1 + 1, e1 + 2, e2 + 2},
			[]string{"0x100000003 to 0x200000000 may be missing", "in no log, from zxid 0x200000001", "0x100000002 to 0x100000002 may not have been executed: the logs"},
		},
		"a deposed leader": {
			[][]int64{{e1 + 1, e1 + 2}, {e1 + 1, e2 + 1}, {e1 + 1, e2 + 1}}, "", []int64{e1 + 1, e2 + 1}, []string{"0x100000002 to 0x100000002 were not executed"},
		},
		"a deposed leader, and one that has just begun": {
			[][]int64{{e1 + 1, e1 + 2}, {e1 + 1, e2 + 1}, {e1 + 1}},
			"",
			[]int64{e1 + 1, e2 + 1},
			[]string{"0x100000002 to 0x100000002 were not executed", "0x200000001 to 0x200000001 may not have been executed: most"},
		},
		"two deposed leaders": {
			[][]int64{{e1 + 1, e1 + 2}, {e1 + 1, e2 + 1}, {e1 + 1, e3 + 1}, {e1 + 1, e3 + 1}, {e1 + 1, e3 + 1}},
			"",
			[]int64{e1 + 1, e3 + 1},
			[]string{"0x100000002 to 0x100000002 were not", "0x200000001 to 0x200000001 were not"},
		},
		"an old copy": {
			[][]int64{{e1 + 1, e1 + 2, e2 + 1}, {e1 + 1}},
			"",
			[]int64{e1 + 1, e1 + 2, e2 + 1},
			[]string{"0x100000002 to 0x200000001 may not have been executed: most of these servers"},
		},
		"all have all": {[][]int64{{e1 + 1, e2 + 1}, {e1 + 1, e2 + 1}}, "", []int64{e1 + 1, e2 + 1}, nil},
		"logs that begin at different transactions": {
			[][]int64{{e1 + 1, e1 + 2, e2 + 1}, {e1 + 2, e2 + 1}, {e2 + 1}}, "", []int64{e1 + 1, e1 + 2, e2 + 1}, nil,
		},
	} {
		var dirs []string
		for i, log := range test.logs {
			files := map[string][]byte{}
			for _, zxid := range log {
				files[fmt.Sprintf("log.%x", zxid)] = logOf(made(zxid, 7, fmt.Sprintf("/l/%x", zxid)))
			}
			files[fmt.Sprintf("snapshot.%x", log[0]-1)] = snapshotOf()
			files["myid"] = fmt.Appendf(nil, "%d\n", i+1)
			if i == 0 && test.snapshot != "" {
				files[test.snapshot] = snapshotOf()
			}
			dirs = append(dirs, write(t, files))
		}
		log, err := txnlog.Open("/", dirs...)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for transaction := range log.Transactions() {
			if !transaction.At.IsZero() {
				got = append(got, transaction.Zxid)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %#x, want %#x", name, got, test.want)
		}
		wantNotes(t, name, log, test.notes...)
		incomplete := slices.ContainsFunc(test.notes, func(n string) bool { return !strings.Contains(n, " were not") })
		if log.Incomplete != incomplete {
			t.Errorf("%s: got Incomplete %v, want %v", name, log.Incomplete, incomplete)
		}
	}
}

// A server was given a dataLogDir late, and a directory is given twice.
func TestDirectoriesOfOneServerAreReadAsOne(t *testing.T) {
	old := write(t, map[string][]byte{"log.1": logOf(made(1, 7, "/a"), made(2, 7, "/b")), "snapshot.2": snapshotOf()})
	later := write(t, map[string][]byte{"log.3": logOf(made(3, 7, "/c"))})
	want := []string{"1 Created /a of 7", "2 Created /b of 7", "3 Created /c of 7"}
	for name, dirs := range map[string][]string{"two": {old, later}, "the other way round": {later, old}, "three": {old, later, filepath.Join(old, ".")}} {
		got, log := replayed(t, "/", dirs...)
		wantLines(t, name, got, want...)
		wantNotes(t, name, log)
	}
}
