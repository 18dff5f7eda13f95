package framework_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
)

func TestEnterBesideMakesOneNodeWhateverIsLost(t *testing.T) {
	for name, fault := range map[string]func(w *world){
		"nothing":    func(*world) {},
		"the answer": func(w *world) { w.srv.DropReply(zktest.Match{Op: zktest.OpMulti}) },
		"the request": func(w *world) {
			w.srv.DropRequest(zktest.Match{Op: zktest.OpMulti})
			w.srv.DropReply(zktest.Match{Op: zktest.OpMulti, Nth: 2})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.make("/dir")
				w.make("/dir/guard")
				s := w.session()
				fault(w)
				path, err := s.CreateIfExists(t.Context(), "/dir/guard", "/dir", "__READ__0000000007", nil)
				if err != nil {
					t.Fatal(err)
				}
				stat, ok := w.srv.Stat(path)
				if !ok || stat.EphemeralOwner != s.ID() || !strings.HasSuffix(path, "-__READ__0000000007") || len(w.srv.Children("/dir")) != 2 {
					t.Errorf("entered as %s, and there is %q", path, w.srv.Children("/dir"))
				}
			})
		})
	}
}

func TestEnterBesideNeedsItsGuard(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.make("/dir")
		_, err := w.session().CreateIfExists(t.Context(), "/dir/guard", "/dir", "n", nil)
		wantErr(t, err, zk.ErrNoNode)
		if got := w.srv.Children("/dir"); len(got) != 0 {
			t.Errorf("%q is there", got)
		}
	})
}

func TestAnEnterBesideThatIsGivenUpLeavesNoNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.make("/dir")
		w.make("/dir/guard")
		w.srv.DelayReply(zktest.Match{Op: zktest.OpMulti}, 2*time.Second)
		_, err := w.session().CreateIfExists(w.within(time.Second), "/dir/guard", "/dir", "n", nil)
		wantErr(t, err, context.DeadlineExceeded)
		w.eventually("removed", func() bool { return len(w.srv.Children("/dir")) == 1 })
	})
}
