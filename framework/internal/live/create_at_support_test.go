package live_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// The server answers the first create with "unimplemented", and closes the connection. The next try does without.
func TestCreateAtAndRemoveAtWorkAtServersWithoutCreate2(t *testing.T) {
	for name, opt := range servers {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t, opt)
				client := connect(t, server)
				s := enterable(t, client)
				err := s.CreateAt(t.Context(), "/a/b", []byte("x"), nil)
				for errors.Is(err, framework.ErrSessionLost) { // where every hang-up ends the session, as recipes do
					s = enterable(t, client)
					err = s.CreateAt(t.Context(), "/a/b", []byte("x"), nil)
				}
				stat, there := server.Stat("/a/b")
				if err != nil || !there || stat.EphemeralOwner != s.ID() {
					t.Fatalf("got %v, node %t, %+v; want a node of the session", err, there, stat)
				}
				before := server.Counts()
				wantErr(t, s.CreateAt(t.Context(), "/a/c", nil, nil))
				after := server.Counts()
				if n := after[zktest.OpExists] - before[zktest.OpExists]; n != 0 {
					t.Errorf("got %d requests for a Stat that nothing needs, want none", n)
				}
				removal := s.RemoveAt("/a/b")
				<-removal.Done()
				wantErr(t, removal.Err())
				time.Sleep(10 * s.Timeout())
				if server.Exists("/a/b") || !server.Exists("/a/c") {
					t.Errorf("got the removed node: %t, the other: %t; want the other alone", server.Exists("/a/b"), server.Exists("/a/c"))
				}
			})
		})
	}
}
