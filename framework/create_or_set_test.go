package framework_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func (w *env) wantData(path, want string) {
	w.Helper()
	if got, there := w.Server.Data(path); !there || string(got) != want {
		w.Errorf("%s: got data %q (there: %v), want %q", path, got, there, want)
	}
}

func TestOrSetDataCreatesAndThenSets(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for i, data := range []string{"first", "second"} {
			path, stat, err := w.Client.Create(t.Context(), "/a/b", []byte(data), framework.OrSetData(-1), framework.CreatingParentsIfNeeded())
			if err != nil || path != "/a/b" || stat.Version != int32(i) {
				t.Errorf("got %q, %+v, %v", path, stat, err)
			}
			w.wantData("/a/b", data)
		}
		if _, stat, err := w.Client.Create(t.Context(), "/a/b", nil, framework.OrSetData(1)); err != nil || stat.Version != 2 {
			t.Errorf("got %+v, %v", stat, err)
		}
		w.wantData("/a/b", "default")
	})
}

func TestOrSetDataLeavesANodeOfAnotherVersion(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		_, stat, err := w.Client.Create(t.Context(), "/a", []byte("new"), framework.OrSetData(3))
		wantErr(t, err, zk.ErrBadVersion)
		if stat != nil {
			t.Errorf("got %+v", stat)
		}
		w.wantData("/a", "1")
	})
}

func TestOrSetDataCreatesANodeThatVanishesBeforeItIsSet(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Cleanup(w.Server.Observe(func(q zktest.Request) {
			if q.Op == zktest.OpSetData && w.Server.Exists("/a") && w.Count(zktest.OpCreate2) == 1 {
				wantErr(t, w.Server.Delete("/a"))
			}
		}))
		if _, stat, err := w.Client.Create(t.Context(), "/a", []byte("new"), framework.OrSetData(-1)); err != nil || stat.Version != 0 {
			t.Errorf("got %+v, %v", stat, err)
		}
		if n := w.Count(zktest.OpCreate2); n != 2 {
			t.Errorf("got %d creations, want 2", n)
		}
		w.wantData("/a", "new")
	})
}

func TestOrSetDataWhoseReplyIsLostSetsTheSameDataAgain(t *testing.T) {
	for name, op := range map[string]zktest.Op{"of the creation": zktest.OpCreate2, "of the change": zktest.OpSetData} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				if op == zktest.OpSetData {
					w.Make("/a")
				}
				w.Server.DropReply(zktest.Match{Op: op, Path: "/a"})
				if _, _, err := w.Client.Create(t.Context(), "/a", []byte("new"), framework.OrSetData(-1)); err != nil {
					t.Error(err)
				}
				w.wantData("/a", "new")
			})
		})
	}
}

func TestOrSetDataIsRefusedForNodesThatAreAlwaysNew(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for name, opt := range map[string]framework.CreateOption{
			"sequential": framework.WithMode(framework.PersistentSequential), "protected": framework.WithProtection(),
		} {
			if _, _, err := w.Client.Create(t.Context(), "/a", nil, opt, framework.OrSetData(-1)); err == nil {
				t.Errorf("%s: created", name)
			}
		}
		if _, err := w.Client.Transaction(t.Context(), framework.CreateOp("/a", nil, framework.OrSetData(-1))); err == nil {
			t.Error("got no error for OrSetData in a transaction, want one")
		}
	})
}
