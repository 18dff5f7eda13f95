package txnlog_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gocurator/curator/framework/zktest/txnlog"
)

// The third server got a snapshot in place of the deletion of /a, and does not know that it was gone when its session
// ended.
func TestReadMostKnowsOwnersFromAllLogs(t *testing.T) {
	made := record{zxid: 1, session: 7, kind: create, body: created("/a", "", 1)}
	gone := record{zxid: 2, session: 7, kind: remove, body: text(nil, "/a")}
	ends := record{zxid: 3, session: 7, kind: closeSession}
	all, err := txnlog.ReadMost(
		write(t, map[string][]byte{"log.1": logOf(made, gone)}),
		write(t, map[string][]byte{"log.1": logOf(made, gone, ends)}),
		write(t, map[string][]byte{"log.1": logOf(made, ends)}),
	)
	if got, want := zxids(all), []int64{1, 2, 3}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %v (%v), want %v", got, err, want)
	}
	want := []txnlog.Change{{Kind: txnlog.Deleted, Path: "/a", Owner: 7}}
	if !reflect.DeepEqual(all[1].Changes, want) || all[2].Changes != nil {
		t.Errorf("got the changes %v and %v, want %v and none", all[1].Changes, all[2].Changes, want)
	}
}
