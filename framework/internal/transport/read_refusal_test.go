package transport_test

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// Error codes that refuse a client.
const (
	authFailed   = -115
	saslRequired = -124
)

// On the first connection the server answers one request with a code that refuses the client.
func TestWhichRefusalsOfTheClientAreBelieved(t *testing.T) {
	auth := []transport.Auth{transport.NewAuth("digest", []byte("a:b"))}
	for name, c := range map[string]struct {
		auth    []transport.Auth
		request zktest.Op // the first of its kind is answered with code
		code    int32
		final   bool
		idle    bool // until the first ping was answered
	}{
		"authentication fails":                         {auth, zktest.OpSetAuth, authFailed, true, false},
		"authentication, where SASL is required":       {auth, zktest.OpSetAuth, saslRequired, true, false},
		"authentication times out":                     {auth, zktest.OpSetAuth, -7, false, false},
		"authentication with an unknown code":          {auth, zktest.OpSetAuth, -999, false, false},
		"authentication with a code above zero":        {auth, zktest.OpSetAuth, 1, false, false},
		"SASL is required, at the first request":       {nil, zktest.OpSync, saslRequired, true, false},
		"SASL is required, behind an authentication":   {auth, zktest.OpSync, saslRequired, true, false},
		"SASL is required, at the first ping":          {nil, zktest.OpPing, saslRequired, true, true},
		"SASL is required, behind a ping":              {nil, zktest.OpSync, saslRequired, false, true},
		"SASL is required, on a connection that works": {nil, zktest.OpDelete, saslRequired, false, false},
		"SASL is required, at a ping that follows":     {auth, zktest.OpPing, saslRequired, false, false},
		"a first request fails authentication":         {nil, zktest.OpSync, authFailed, false, false},
		"a request fails authentication":               {nil, zktest.OpDelete, authFailed, false, false},
		"a ping fails authentication":                  {nil, zktest.OpPing, authFailed, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				var code atomic.Int32
				code.Store(c.code)
				tr, heard := start(t, scripted(t, func(conn net.Conn) {
					if !welcome(conn, 7, 12000) {
						return
					}
					for frame, ok := request(conn); ok; frame, ok = request(conn) {
						xid, op := xidAndOp(frame)
						var refusal int32
						var body []byte
						if op == int32(c.request) {
							refusal = code.Swap(0)
						}
						if op == int32(zktest.OpSync) && refusal == 0 {
							body = frame[8:]
						}
						if _, err := conn.Write(reply(xid, 0, refusal, body)); err != nil {
							return
						}
					}
				}), func(cfg *transport.Config) { cfg.Auth = c.auth })
				attach(t, heard)
				var errs []error
				note := func(err error) { errs = append(errs, err) }
				if c.idle {
					time.Sleep(timeout / 2)
				}
				tr.Send(transport.Sync("/", note), transport.Delete("/a", -1, note))
				time.Sleep(timeout)
				tr.Close(time.Second)
				final := false
				for _, err := range heard.failures {
					final = final || errors.Is(err, transport.ErrAuth)
				}
				if final != c.final {
					t.Errorf("got the failures %v, want a final one: %t", heard.failures, c.final)
				}
				if n := heard.count("attached"); n != 2 { // it is the owner that ends the session
					t.Errorf("got %d connections, want 2", n)
				}
				for _, err := range errs {
					if err != nil && !errors.Is(err, transport.ErrBroken) {
						t.Errorf("a request: got %v, want %v", err, transport.ErrBroken)
					}
				}
			})
		})
	}
}

// An authorization is added to a connection that works, and answered with a code. Its connection ends either way.
func TestAnAddedAuthorizationIsRefusedByTheCodesOfRefusalsAlone(t *testing.T) {
	for code, want := range map[int32]error{
		authFailed: transport.ErrAuth, saslRequired: transport.ErrAuth,
		-7: transport.ErrBroken, -999: transport.ErrBroken, 1: transport.ErrBroken,
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				tr, heard := start(t, answering(t, func(xid, op int32) []byte {
					if op == int32(zktest.OpSetAuth) {
						return reply(xid, 0, code, nil)
					}
					return reply(xid, 0, 0, nil)
				}))
				attach(t, heard)
				var got error
				do(t, tr, func(done func()) *transport.Call {
					return tr.AddAuth(transport.NewAuth("digest", []byte("a:b")), func(err error) { got = err; done() })
				})
				if !errors.Is(got, want) || errors.Is(got, transport.ErrAuth) != (want == transport.ErrAuth) {
					t.Errorf("got %v, want %v", got, want)
				}
				eventually(t, "attached again", func() bool { return heard.count("attached") == 2 })
				if len(heard.failures) > 0 && errors.Is(heard.failures[0], transport.ErrAuth) {
					t.Errorf("got the failures %v, want none that ends the client", heard.failures)
				}
			})
		})
	}
}
