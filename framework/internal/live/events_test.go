package live_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// An answer on a connection that works is damaged on its way. It must not end the client, only the connection.
func TestAnAnswerThatRefusesAClientThatWorksEndsItsConnectionAlone(t *testing.T) {
	for _, code := range []int32{-115, -124} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				w := &env{&clienttest.Env{T: t, Server: zktest.New(t), States: &clienttest.States{}}}
				w.Link = w.Server.NewLink()
				dials, damage := 0, false
				var damaged uint32 // xid
				w.Client = w.Dial("zk:2181", framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
					dials++
					conn, err := w.Link.DialContext(ctx, network, address)
					return &framed{
						Conn: conn,
						request: func(op zktest.Op, frame []byte) (pass bool) {
							if op == zktest.OpGetData && damage {
								damaged, damage = binary.BigEndian.Uint32(frame[4:]), false
							}
							return true
						},
						answer: func(frame []byte) []byte {
							if binary.BigEndian.Uint32(frame[4:]) == damaged {
								binary.BigEndian.PutUint32(frame[16:], uint32(code))
								damaged = 0
							}
							return frame
						},
					}, err
				}))
				w.Connected()
				s, h := w.Session(), w.Bind()
				if _, _, err := w.Client.Get(t.Context(), "/"); err != nil {
					t.Fatal(err)
				}
				damage = true
				if _, _, err := w.Client.Get(t.Context(), "/"); err != nil || damage {
					t.Errorf("got %v, damage still to come: %t; want an answer at the next connection", err, damage)
				}
				if w.Client.Err() != nil || s.Err() != nil || h.Err() != nil || dials != 2 {
					t.Errorf("the client: %v; the session: %v; a binding: %v; %d connections, want 2", w.Client.Err(), s.Err(), h.Err(), dials)
				}
				h.Release()
			})
		})
	}
}
