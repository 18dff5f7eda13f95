package zktest_test

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

func TestCountRequestsCountsByKindPathAndSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		do(t, srv.Create("/a", nil), srv.Create("/a/b", nil), srv.Create("/ab", nil))
		first, second := newWatcher(t, srv), newWatcher(t, srv)
		first.watchData("/a/b") // before anything is counted
		counts := map[string]struct {
			count func() int
			want  int
		}{
			"all":                 {srv.CountRequests(zktest.Match{}), 7},
			"getData":             {srv.CountRequests(zktest.Match{Op: zktest.OpGetData}), 5},
			"getData below /a":    {srv.CountRequests(zktest.Match{Op: zktest.OpGetData, Path: "/a/*"}), 3},
			"all of /a":           {srv.CountRequests(zktest.Match{Path: "/a"}), 2},
			"first below /a":      {srv.CountRequests(zktest.Match{Path: "/a/*", Session: first.session}), 1},
			"getData of /ab":      {srv.CountRequests(zktest.Match{Op: zktest.OpGetData, Path: "/ab"}), 1},
			"listings below /a/b": {srv.CountRequests(zktest.Match{Op: zktest.OpGetChildren, Path: "/a/b*"}), 0},
			"Nth":                 {srv.CountRequests(zktest.Match{Op: zktest.OpGetChildren, Nth: 5}), 1},
		}
		first.watchData("/a/b")
		first.watchData("/ab")
		first.watchChildren("/a")
		second.watchData("/a/b")
		second.watchData("/a")
		if answered(second.nc, request(zktest.OpGetData, "/a/none", 0)) {
			t.Error("got a node, want a failure that is counted")
		}
		second.ask(zktest.OpSync, "/")
		for name, c := range counts {
			if got := c.count(); got != c.want {
				t.Errorf("%s: got %d, want %d", name, got, c.want)
			}
		}
	})
}

func TestCountRequestsHasEachPathOfAMultiRead(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		do(t, srv.Create("/a", nil), srv.Create("/b", nil))
		w := newWatcher(t, srv)
		of := map[string]func() int{}
		for _, path := range []string{"/a", "/b", "/c"} {
			of[path] = srv.CountRequests(zktest.Match{Path: path})
		}
		if !answered(w.nc, multiRead("/a", "/b")) {
			t.Fatal("the multiRead has failed")
		}
		for path, want := range map[string]int{"/a": 1, "/b": 1, "/c": 0} {
			if got := of[path](); got != want {
				t.Errorf("%s: got %d, want %d", path, got, want)
			}
		}
	})
}

// multiRead is a request for the data of some nodes.
func multiRead(paths ...string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 0}, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(zktest.OpMultiRead))
	header := func(op int32, done byte) {
		b = append(binary.BigEndian.AppendUint32(b, uint32(op)), done, 0xff, 0xff, 0xff, 0xff)
	}
	for _, path := range paths {
		header(int32(zktest.OpGetData), 0)
		b = append(append(binary.BigEndian.AppendUint32(b, uint32(len(path))), path...), 0)
	}
	header(-1, 1)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// What is dropped before it is executed does not count; what a thread has read and executes late does.
func TestCountRequestsCountsWhatIsExecuted(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		count := srv.CountRequests(zktest.Match{Op: zktest.OpDelete})
		srv.DropRequest(zktest.Match{Op: zktest.OpDelete})
		dropped, _ := attach(t, srv, nil)
		dropped.Write(request(zktest.OpDelete, "/a", 0xff, 0xff, 0xff, 0xff))
		synctest.Wait()
		if got := count(); got != 0 {
			t.Errorf("got %d after a request that was dropped, want none", got)
		}
		release := srv.Stall(zktest.Match{Op: zktest.OpDelete})
		stalled, _ := attach(t, srv, nil)
		stalled.Write(request(zktest.OpDelete, "/a", 0xff, 0xff, 0xff, 0xff))
		time.Sleep(time.Millisecond)
		srv.CutAll()
		synctest.Wait()
		if got := count(); got != 0 {
			t.Errorf("got %d while the request is stalled, want none", got)
		}
		release()
		synctest.Wait()
		if got := count(); got != 1 {
			t.Errorf("got %d after the release, want 1", got)
		}
	})
}
