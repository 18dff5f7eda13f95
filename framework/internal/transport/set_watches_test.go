package transport_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// One node was deleted before the request came, one changed after its zxid, one is unchanged.
func TestSetWatchesReportsWhatHasHappenedBeforeItsAnswer(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		tr, heard := start(t, srv.DialContext)
		attach(t, heard)
		for _, path := range []string{"/deleted", "/changed", "/kept"} {
			if err := srv.Create(path, nil); err != nil {
				t.Fatal(err)
			}
		}
		kept, _ := srv.Stat("/kept")
		if err := srv.Delete("/deleted"); err != nil {
			t.Fatal(err)
		}
		if err := srv.SetData("/changed", []byte("new")); err != nil {
			t.Fatal(err)
		}
		before := []transport.WatchEvent{{Type: zk.EventNodeDeleted, Path: "/deleted"}, {Type: zk.EventNodeDataChanged, Path: "/changed"}}
		do(t, tr, func(done func()) *transport.Call {
			return transport.SetWatches(kept.Czxid, []string{"/deleted", "/changed", "/kept"}, func(err error) {
				defer done()
				if err != nil || !slices.Equal(heard.watched, before) {
					t.Errorf("got %v before the answer, want %v; %v", heard.watched, before, err)
				}
			})
		})
		if n := srv.WatchCount(); n != 1 {
			t.Errorf("got %d watches, want that on the node that is unchanged", n)
		}
		if err := srv.Delete("/kept"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if want := append(before, transport.WatchEvent{Type: zk.EventNodeDeleted, Path: "/kept"}); !slices.Equal(heard.watched, want) {
			t.Errorf("got %v, want %v", heard.watched, want)
		}
	})
}
