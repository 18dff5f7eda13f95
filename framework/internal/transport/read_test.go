package transport_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// A server whose leader is about to end the session, or has it on another connection, refuses a transaction's parts
// under a header without an error. That is no sign of the session's life: leases are not renewed by it.
func TestATransactionWhosePartsSayThatTheSessionIsNotTheServersIsNoAnswer(t *testing.T) {
	for code, want := range map[int32]error{-112: zk.ErrSessionExpired, -118: zk.ErrSessionMoved} {
		t.Run(want.Error(), func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				tr, heard := start(t, answering(t, func(xid, _ int32) []byte {
					var body []byte
					for _, field := range []struct {
						op   int32
						last byte
						code int32
					}{{-1, 0, code}, {-1, 1, -1}} {
						body = binary.BigEndian.AppendUint32(body, uint32(field.op))
						body = append(body, field.last)
						body = binary.BigEndian.AppendUint32(body, uint32(field.code))
						if field.last == 0 {
							body = binary.BigEndian.AppendUint32(body, uint32(field.code))
						}
					}
					return reply(xid, 1, 0, body)
				}))
				attach(t, heard)
				var got error
				do(t, tr, func(done func()) *transport.Call {
					return transport.Multi([]transport.Op{transport.CheckOp("/", -1)}, func(_ []transport.OpResult, err error) {
						defer done()
						got = err
					})
				})
				if !errors.Is(got, want) || !errors.Is(got, transport.ErrBroken) {
					t.Errorf("got %v, want a broken connection, and %v", got, want)
				}
				for _, a := range heard.answers() {
					if a.reach == transport.ReachMajority {
						t.Errorf("got an answer %+v, want none that a majority has written down", a)
					}
				}
				eventually(t, "detached", func() bool { return heard.count("detached") > 0 })
			})
		})
	}
}
