package live_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestSetReplacesTheDataOfANodeWithThatVersion(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/a", []byte("0"), nil))
		stat, err := s.Set(t.Context(), "/a", []byte("1"), 0)
		if data, _ := w.Server.Data("/a"); err != nil || stat.Version != 1 || string(data) != "1" {
			t.Errorf("got %+v, %v, data %q; want version 1, data 1", stat, err, data)
		}
		_, err = s.Set(t.Context(), "/a", []byte("2"), 0)
		wantErr(t, err, zk.ErrBadVersion)
		stat, err = s.Set(t.Context(), "/a", []byte{}, -1)
		if data, _ := w.Server.Data("/a"); err != nil || stat.Version != 2 || len(data) != 0 {
			t.Errorf("got %+v, %v, data %q; want version 2, no data", stat, err, data)
		}
		_, err = s.Set(t.Context(), "/missing", nil, -1)
		wantErr(t, err, zk.ErrNoNode)
		_, err = s.Set(t.Context(), "/a", make([]byte, 2<<20), -1)
		wantErr(t, err, framework.ErrTooLarge)
		wantErr(t, w.Server.SetACL("/a", zktest.ACL{Perms: zk.PermRead, Scheme: "world", ID: "anyone"}))
		_, err = s.Set(t.Context(), "/a", nil, -1)
		wantErr(t, err, zk.ErrNoAuth)
	})
}

// Set asks once. Without an answer it may have been executed, or not.
func TestSetIsAskedForOnce(t *testing.T) {
	for name, c := range map[string]struct {
		lose    func(*zktest.Server, zktest.Match)
		version int32
	}{"the request is lost": {(*zktest.Server).DropRequest, 0}, "the answer is lost": {(*zktest.Server).DropReply, 1}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				s := w.Session()
				wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
				c.lose(w.Server, zktest.Match{Op: zktest.OpSetData})
				stat, err := s.Set(t.Context(), "/a", []byte("1"), -1)
				wantErr(t, err, framework.ErrConnectionLost)
				w.Connected()
				time.Sleep(time.Minute)
				if got, _ := w.Server.Stat("/a"); stat != nil || got.Version != c.version {
					t.Errorf("got %+v, and version %d; want nil, and version %d", stat, got.Version, c.version)
				}
				w.Server.HoldRequest(zktest.Match{Op: zktest.OpSetData})
				_, err = s.Set(w.Within(time.Second), "/a", nil, -1)
				wantErr(t, err, context.DeadlineExceeded)
				w.Server.ExpireSession(s.ID())
				<-s.Done()
				_, err = s.Set(t.Context(), "/a", nil, -1)
				wantErr(t, err, framework.ErrSessionLost)
			})
		})
	}
}
