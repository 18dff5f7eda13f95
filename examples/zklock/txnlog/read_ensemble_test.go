package txnlog_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"

	"github.com/gocurator/curator/framework/zktest"
)

// The third server got a snapshot in place of the deletion of /a, and does not know that it was gone when its session
// ended.
func TestReadEnsembleKnowsOwnersFromAllLogs(t *testing.T) {
	made := record{zxid: 1, session: 7, kind: create, body: created("/a", "", 1)}
	gone := record{zxid: 2, session: 7, kind: remove, body: text(nil, "/a")}
	ends := record{zxid: 3, session: 7, kind: closeSession}
	all, err := txnlog.ReadEnsemble(
		write(t, map[string][]byte{"log.1": logOf(made, gone)}),
		write(t, map[string][]byte{"log.1": logOf(made, gone, ends)}),
		write(t, map[string][]byte{"log.1": logOf(made, ends)}),
	)
	if got, want := zxids(all), []int64{1, 2, 3}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %v (%v), want %v", got, err, want)
	}
	want := []zktest.Change{{Kind: zktest.Deleted, Path: "/a", Owner: 7}}
	if !reflect.DeepEqual(all[1].Changes, want) || all[2].Changes != nil {
		t.Errorf("got the changes %v and %v, want %v and none", all[1].Changes, all[2].Changes, want)
	}
}

// Each log is the zxids of a server.
func TestReadEnsembleHasWhatLeadersHaveTakenOver(t *testing.T) {
	const e1, e2, e3 = 1 << 32, 2 << 32, 3 << 32
	for name, test := range map[string]struct {
		logs [][]int64
		want []int64
	}{
		"all have all": {[][]int64{{e1 + 1, e2 + 1}, {e1 + 1, e2 + 1}, {e1 + 1, e2 + 1}}, []int64{e1 + 1, e2 + 1}},
		"a deposed leader has more": {
			[][]int64{{e1 + 1, e1 + 2}, {e1 + 1, e2 + 1}, {e1 + 1, e2 + 1}}, []int64{e1 + 1, e2 + 1},
		},
		"more, and then a snapshot": {
			[][]int64{{e1 + 1, e1 + 2, e3 + 1}, {e1 + 1, e2 + 1, e3 + 1}, {e1 + 1, e2 + 1}}, []int64{e1 + 1, e2 + 1, e3 + 1},
		},
		"more, and then a snapshot in the middle of the next epoch": {
			[][]int64{{e1 + 1, e1 + 2, e2 + 2}, {e1 + 1, e2 + 1, e2 + 2}, {e1 + 1, e2 + 1}}, []int64{e1 + 1, e2 + 1, e2 + 2},
		},
		"one leader alone has what it has taken over": {
			[][]int64{{e1 + 1, e2 + 1, e3 + 1}, {e1 + 1, e3 + 1}, {e1 + 1}}, []int64{e1 + 1, e2 + 1, e3 + 1},
		},
		"an epoch in which nothing was executed": {
			[][]int64{{e1 + 1, e2 + 1}, {e1 + 1, e3 + 1}, {e1 + 1, e3 + 1}}, []int64{e1 + 1, e3 + 1},
		},
		"the newest is logged by one": {[][]int64{{e1 + 1, e1 + 2}, {e1 + 1}, {e1 + 1}}, []int64{e1 + 1}},
		"one has no log":              {[][]int64{{e1 + 1, e1 + 2}, {e1 + 1, e1 + 2}, nil}, []int64{e1 + 1, e1 + 2}},
	} {
		var dirs []string
		for _, log := range test.logs {
			files := map[string][]byte{}
			for _, zxid := range log {
				files[fmt.Sprintf("log.%x", zxid)] = logOf(record{zxid: zxid, kind: createSession})
			}
			dirs = append(dirs, write(t, files))
		}
		all, err := txnlog.ReadEnsemble(dirs...)
		if got := zxids(all); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: got %#x (%v), want %#x", name, got, err, test.want)
		}
	}
}

func TestReadEnsembleRefusesTwoTransactionsOfOneZxid(t *testing.T) {
	one, two, other := made(1, 7, "/a"), made(2, 7, "/b"), made(2, 8, "/b")
	dirs := []string{
		write(t, map[string][]byte{"log.1": logOf(one, two)}), write(t, map[string][]byte{"log.1": logOf(one, other)}),
		write(t, map[string][]byte{"log.1": logOf(one, two)}),
	}
	all, err := txnlog.ReadEnsemble(dirs...)
	if want := filepath.Join(dirs[1], "log.1") + ": transaction 0x2 is not that of the other servers"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v and the error %v, want %q", all, err, want)
	}
}
