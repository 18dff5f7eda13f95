package live_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
)

func TestCreateIfExistsMakesOneNodeWhateverIsLost(t *testing.T) {
	for name, fault := range map[string]func(w *env){
		"nothing":    func(*env) {},
		"the answer": func(w *env) { w.Server.DropReply(zktest.Match{Op: zktest.OpMulti}) },
		"the request": func(w *env) {
			w.Server.DropRequest(zktest.Match{Op: zktest.OpMulti})
			w.Server.DropReply(zktest.Match{Op: zktest.OpMulti, Nth: 2})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/dir")
				w.Make("/dir/guard")
				s := w.Session()
				fault(w)
				path, err := s.CreateIfExists(t.Context(), "/dir/guard", "/dir", "__READ__0000000007", nil)
				must(t, err)
				stat, ok := w.Server.Stat(path)
				if !ok || stat.EphemeralOwner != s.ID() || !strings.HasSuffix(path, "-__READ__0000000007") || len(w.Server.Children("/dir")) != 2 {
					t.Errorf("entered as %s, and there is %q", path, w.Server.Children("/dir"))
				}
			})
		})
	}
}

func TestCreateIfExistsNeedsItsGuard(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		_, err := w.Session().CreateIfExists(t.Context(), "/dir/guard", "/dir", "n", nil)
		wantErr(t, err, zk.ErrNoNode)
		if got := w.Server.Children("/dir"); len(got) != 0 {
			t.Errorf("%q is there", got)
		}
	})
}

func TestACreateIfExistsThatIsGivenUpLeavesNoNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		w.Make("/dir/guard")
		w.Server.DelayReply(zktest.Match{Op: zktest.OpMulti}, 2*time.Second)
		_, err := w.Session().CreateIfExists(w.Within(time.Second), "/dir/guard", "/dir", "n", nil)
		wantErr(t, err, context.DeadlineExceeded)
		w.Eventually("removed", func() bool { return len(w.Server.Children("/dir")) == 1 })
	})
}
