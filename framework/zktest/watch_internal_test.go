package zktest

import (
	"net"
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
			s := &script{t: t, dial: func() (net.Conn, error) { return srv.Dial("", "", 0) }}
			c := s.connect()
			var e encoder
			e.int32(1)
			e.int32(int32(OpSetWatches))
			e.int64(test.since)
			e.strings([]string{"/a"}) // watches on data
			e.strings(nil)
			e.strings([]string{"/a"}) // on children
			c.write(e.b)
			d, err := c.read()
			if err != nil {
				t.Fatal(err)
			}
			if got := d.int32(); got != test.want {
				t.Errorf("since zxid %d, changed at %d: got a frame with xid %d first, want %d", test.since, changed, got, test.want)
			}
			c.nc.Close()
		}
	})
}
