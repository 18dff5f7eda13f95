package transport_test

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// A server may answer a ping before the requests that were sent ahead of it. Those are still completed in the order in
// which they were sent.
func TestCallsThatAPingsAnswerOvertookAreCompletedInOrder(t *testing.T) {
	const ping = -2
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, scripted(t, func(conn net.Conn) {
			if !welcome(conn, 7, int32(timeout/time.Millisecond)) {
				return
			}
			for {
				frame, ok := request(conn)
				if !ok {
					return
				}
				if xid, _ := xidAndOp(frame); xid == ping {
					_, _ = conn.Write(reply(ping, 1, 0, nil))
					return // nothing else is answered
				}
			}
		}))
		attach(t, heard)
		var order []string
		var calls []*transport.Call
		want := []string{"a", "b", "c"}
		for _, name := range want {
			calls = append(calls, transport.Sync("/"+name, func(error) { order = append(order, name) }))
		}
		tr.Send(calls...)
		eventually(t, "detached", func() bool { return heard.count("detached") > 0 })
		if len(heard.answers()) == 0 {
			t.Error("got no answer to the ping, want one")
		}
		if !slices.Equal(order, want) {
			t.Errorf("completed %q, want %q", order, want)
		}
	})
}
