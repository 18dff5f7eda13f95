package transport_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

const (
	opAddWatch = 106
	opSetAuth  = 100
)

// What a server makes of a watch of a tree in a question, and what the client takes it for.
func TestWhatAServerAnswersAboutTreesInAQuestion(t *testing.T) {
	answer := func(code int32) func(conn net.Conn, xid int32) bool {
		return func(conn net.Conn, xid int32) bool {
			_, err := conn.Write(reply(xid, 5, code, nil))
			return err == nil
		}
	}
	for name, test := range map[string]struct {
		first      func(conn net.Conn, xid int32) bool // to the request ahead; whether the connection stays
		tree       func(conn net.Conn, xid int32) bool // to the watch of a tree
		has, lacks bool
		questions  int64
	}{
		"takes it":            {answer(0), answer(0), true, false, 1},
		"but may not read":    {answer(-102), answer(0), true, false, 1},
		"refuses this one":    {answer(0), answer(-102), true, false, 1},
		"an event goes ahead": {answer(0), func(conn net.Conn, xid int32) bool { return answer(0)(conn, -1) && answer(0)(conn, xid) }, true, false, 1},
		"unimplemented":       {answer(0), answer(-6), false, true, 1},
		"marshalling error":   {answer(0), answer(-5), false, true, 1},
		"hangs up":            {answer(0), func(net.Conn, int32) bool { return false }, false, true, 2},
		"hangs up later":      {answer(0), func(net.Conn, int32) bool { time.Sleep(time.Second); return false }, false, false, 1},
		"slow, and hangs up": {
			func(conn net.Conn, xid int32) bool { time.Sleep(1500 * time.Millisecond); return answer(0)(conn, xid) },
			func(net.Conn, int32) bool { time.Sleep(600 * time.Millisecond); return false }, false, false, 1,
		},
		"hangs up before":    {func(net.Conn, int32) bool { return false }, nil, false, false, 1},
		"refuses the client": {answer(-124), nil, false, false, 1},
		"throttled":          {answer(0), answer(-127), false, false, 1},
		"silent":             {answer(0), func(net.Conn, int32) bool { return true }, false, false, 1},
		"answers another":    {answer(0), func(conn net.Conn, xid int32) bool { return answer(0)(conn, xid+50) }, false, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				var connections atomic.Int64
				support := transport.NewSupport(slog.New(slog.DiscardHandler))
				tr, heard := start(t, scripted(t, func(conn net.Conn) {
					session := connections.Add(1)
					if !welcome(conn, session, 12000) {
						return
					}
					authenticated := false
					for frame, ok := request(conn); ok; frame, ok = request(conn) {
						xid, op := xidAndOp(frame)
						react := test.first
						switch {
						case op == opAddWatch && (session == 1 || !authenticated):
							t.Errorf("got a watch of a tree on connection %d, authenticated %t, want it on another one, behind the authentication", session, authenticated)
						case op == opAddWatch:
							react = test.tree
						case session == 1:
							react = answer(0)
						case op == opSetAuth:
							authenticated = true
							continue
						case op < 0: // the end of the session
							return
						}
						if !react(conn, xid) {
							return
						}
					}
				}), func(c *transport.Config) {
					c.Support, c.Auth = support, []transport.Auth{transport.NewAuth("digest", []byte("a:b"))}
				})
				attach(t, heard)
				err := tr.AskForTrees(t.Context())
				if (err == nil) != (test.has || test.lacks) {
					t.Errorf("got %v, want an error where nothing was found out", err)
				}
				has, lacks := support.Has(transport.FeatureTreeWatches), support.Lacks(transport.FeatureTreeWatches)
				if has != test.has || lacks != test.lacks {
					t.Errorf("got has %t, lacks %t, want %t, %t", has, lacks, test.has, test.lacks)
				}
				if got := connections.Load() - 1; got != test.questions {
					t.Errorf("got %d questions, want %d", got, test.questions)
				}
				if heard.count("detached") > 0 {
					t.Error("the session has lost its connection")
				}
			})
		})
	}
}

// The dialer does not heed it.
func TestAQuestionAboutTreesEndsWithItsContext(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := server(t)
		var dials atomic.Int64
		over := make(chan struct{})
		defer close(over)
		tr, heard := start(t, func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) > 1 {
				<-over
			}
			return srv.DialContext(ctx, network, address)
		})
		attach(t, heard)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		before := time.Now()
		if err := tr.AskForTrees(ctx); err == nil || time.Since(before) > 1100*time.Millisecond {
			t.Errorf("got %v after %v, want an error after a second, and a moment for the dialer", err, time.Since(before))
		}
	})
}

func TestAQuestionAboutTreesWithoutAConnectionIsAnError(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, _ := start(t, func(context.Context, string, string) (net.Conn, error) { return nil, io.ErrUnexpectedEOF })
		if err := tr.AskForTrees(t.Context()); !errors.Is(err, transport.ErrBroken) {
			t.Errorf("got %v, want %v", err, transport.ErrBroken)
		}
	})
}
