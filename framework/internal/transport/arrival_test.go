package transport_test

import (
	"net"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// What is proved by an answer is counted from its arrival: a time that is too early would make a lease too long.
func TestAnAnswerHasNotComeBeforeItsLastByte(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var last time.Time
		tr, heard := start(t, scripted(t, func(conn net.Conn) {
			if !welcome(conn, 7, 12000) {
				return
			}
			var both []byte
			for range 2 {
				frame, ok := request(conn)
				if !ok {
					return
				}
				xid, _ := xidAndOp(frame)
				both = append(both, reply(xid, 1, 0, []byte{0, 0, 0, 1, '/'})...)
			}
			conn.Write(both[:len(both)-1]) // the first answer, and most of the second
			time.Sleep(time.Second)
			last = time.Now()
			conn.Write(both[len(both)-1:])
			drain(conn)
		}))
		attach(t, heard)
		asked := time.Now()
		tr.Send(transport.Sync("/", func(error) {}), transport.Sync("/", func(error) {}))
		eventually(t, "answered", func() bool { return len(heard.answers()) == 2 })
		for i, not := range []time.Time{asked, last} {
			if got := heard.answers()[i]; got.received.Before(not) || got.sent.Before(asked) {
				t.Errorf("answer %d was sent at %v and came at %v, want not before %v", i, got.sent, got.received, not)
			}
		}
	})
}
