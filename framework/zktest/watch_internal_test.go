package zktest

import (
	"net"
	"slices"
	"testing"
)

// A client restores its watches with the zxid of the last answer that it has seen. Often that is the very change of the
// node: it must not hear of it again.
func TestARestoredWatchDoesNotFireForTheChangeThatTheClientHasSeen(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		srv := New(t)
		if err := srv.Create("/a", nil); err != nil {
			t.Fatal(err)
		}
		changed := srv.view.find("/a").mzxid
		for _, test := range []struct {
			since int64
			want  int32 // the xid of the first frame
		}{{changed, 1}, {changed - 1, -1}} {
			if got := restore(t, srv, test.since, 1)[0]; got != test.want {
				t.Errorf("since zxid %d, changed at %d: got a frame with xid %d first, want %d", test.since, changed, got, test.want)
			}
		}
	})
}

// restore has a client restore its watches on /a, and returns the xids of the first frames that it gets.
func restore(t *testing.T, srv *Server, since int64, frames int) (xids []int32) {
	t.Helper()
	s := &script{t: t, dial: func() (net.Conn, error) { return srv.Dial("", "", 0) }}
	c := s.connect()
	defer c.nc.Close()
	var e encoder
	e.int32(1)
	e.int32(int32(OpSetWatches))
	e.int64(since)
	e.strings([]string{"/a"}) // watches on data
	e.strings(nil)
	e.strings([]string{"/a"}) // on children
	c.write(e.b)
	for range frames {
		d, err := c.read()
		if err != nil {
			t.Fatal(err)
		}
		xids = append(xids, d.int32())
	}
	return xids
}

func TestEventsOfSetWatchesComeBeforeItsAnswerButBehindItAtKeeper(t *testing.T) {
	for name, c := range map[string]struct {
		option Option
		want   []int32
	}{
		"ZooKeeper": {WithVersion("3.9.5"), []int32{-1, -1, 1}},
		"Keeper":    {WithKeeper("26.8"), []int32{1, -1, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			Bubble(t, func(t *testing.T) {
				srv := New(t, c.option)
				if got := restore(t, srv, 0, 3); !slices.Equal(got, c.want) {
					t.Errorf("got frames with the xids %v, want %v: those of events are negative", got, c.want)
				}
			})
		})
	}
}
