package transport_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/framework/zktest"
)

// oneToken is a mechanism that sends a token and is content with any answer.
type oneToken struct{ sent bool }

func (oneToken) Name() string { return "ONE" }

func (oneToken) Start(context.Context, sasl.Server) (sasl.Exchange, error) { return &oneToken{}, nil }

func (x *oneToken) Step([]byte) ([]byte, bool, error) {
	done := x.sent
	x.sent = true
	return []byte("token"), done, nil
}

func TestAGarbledAnswerToATokenIsAFailedAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(xid int32) []byte
		says   string
	}{
		"another request's":  {func(xid int32) []byte { return reply(xid+1, 0, 0, []byte{0, 0, 0, 0}) }, "when a token was asked for"},
		"an event":           {func(int32) []byte { return reply(-1, 0, 0, nil) }, "when a token was asked for"},
		"half a header":      {func(int32) []byte { return []byte{0, 0, 0, 4, 0, 0, 0, 1} }, "not the ZooKeeper protocol"},
		"no token":           {func(xid int32) []byte { return reply(xid, 0, 0, nil) }, "not the ZooKeeper protocol"},
		"a negative length":  {func(xid int32) []byte { return reply(xid, 0, 0, []byte{0xff, 0xff, 0xff, 0xfe}) }, "not the ZooKeeper protocol"},
		"a token and more":   {func(xid int32) []byte { return reply(xid, 0, 0, []byte{0, 0, 0, 0, 1}) }, "not the ZooKeeper protocol"},
		"a gigabyte":         {func(int32) []byte { return []byte{0x40, 0, 0, 0} }, "not the ZooKeeper protocol"},
		"unknown request":    {func(xid int32) []byte { return reply(xid, 0, -6, nil) }, "not supported by the server"},
		"nothing, hung up":   {func(int32) []byte { return nil }, "closed the connection"},
		"refused":            {func(xid int32) []byte { return reply(xid, 0, -115, nil) }, "authentication refused"},
		"refused, with body": {func(xid int32) []byte { return reply(xid, 0, -124, []byte{0xff, 0xff, 0xff, 0xff}) }, "enforce.auth.schemes"},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				_, heard := start(t, scripted(t, func(conn net.Conn) {
					if !welcome(conn, 7, 12000) {
						return
					}
					if frame, ok := request(conn); ok {
						xid, _ := xidAndOp(frame)
						conn.Write(c.answer(xid))
					}
				}), func(c *transport.Config) { c.SASL = oneToken{} })
				eventually(t, "failed", func() bool { return heard.count("failed") > 0 })
				err := heard.failure(t)
				if !strings.Contains(err.Error(), "SASL ONE: ") || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %q, want %q in it", err, c.says)
				}
				if refused := strings.HasPrefix(name, "refused"); errors.Is(err, transport.ErrAuth) != refused {
					t.Errorf("got %v, refused for good: want %t", err, refused)
				}
				if heard.count("attached") > 0 {
					t.Errorf("got %d attachments, want none", heard.count("attached"))
				}
			})
		})
	}
}

type failsOnce struct{ failed bool }

func (*failsOnce) Name() string { return "ONE" }

func (f *failsOnce) Start(context.Context, sasl.Server) (sasl.Exchange, error) {
	if !f.failed {
		f.failed = true
		return nil, errors.New("no ticket now")
	}
	return &oneToken{}, nil
}

func TestTheGrantOfASessionThatWasAbandonedIsNotAskedFor(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		asked := make(chan int32, 2)
		_, heard := start(t, scripted(t, func(conn net.Conn) {
			frame, ok := request(conn)
			if !ok {
				return
			}
			asked <- int32(binary.BigEndian.Uint32(frame[12:]))
			conn.Write(welcomeFrame(1, 40000))
			for {
				frame, ok := request(conn)
				if !ok {
					return
				}
				xid, _ := xidAndOp(frame)
				conn.Write(reply(xid, 0, 0, []byte{0, 0, 0, 0}))
			}
		}), func(c *transport.Config) { c.SASL = &failsOnce{} })
		attach(t, heard)
		if first, second := <-asked, <-asked; first != 12000 || second != 12000 {
			t.Errorf("asked for %d and then %d ms, want 12000 twice", first, second)
		}
	})
}
