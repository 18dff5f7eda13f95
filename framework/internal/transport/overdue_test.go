package transport_test

import (
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// The server loses an answer and goes on answering pings.
func TestAConnectionWithALostAnswerIsLeftAfterTwoThirdsOfTheSession(t *testing.T) {
	for name, c := range map[string]struct {
		op   zktest.Op
		call func(done func(error)) *transport.Call
	}{
		"get": {zktest.OpGetData, func(done func(error)) *transport.Call {
			return transport.Get("/", false, func(_ []byte, _ *zk.Stat, err error) { done(err) })
		}},
		"create": {zktest.OpCreate2, func(done func(error)) *transport.Call {
			return transport.Create("/a", nil, open, transport.Persistent, 0, func(_ string, _ *zk.Stat, err error) { done(err) })
		}},
		"delete": {zktest.OpDelete, func(done func(error)) *transport.Call { return transport.Delete("/b", -1, done) }},
		"auth":   {zktest.OpSetAuth, nil},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				srv := zktest.New(t)
				tr, heard := start(t, srv.DialContext)
				attach(t, heard)
				time.Sleep(timeout + timeout/10) // between two pings
				srv.SwallowReply(zktest.Match{Op: c.op})
				var got error
				var waited time.Duration
				before := time.Now()
				done := func(err error) { got, waited = err, time.Since(before) }
				if c.call == nil {
					tr.Send(tr.AddAuth(transport.NewAuth("digest", []byte("a:b")), done))
				} else {
					tr.Send(c.call(done))
				}
				eventually(t, "attached again", func() bool { return heard.count("attached") == 2 })
				if !errors.Is(got, transport.ErrBroken) || waited != timeout*2/3 {
					t.Errorf("got %v after %v, want %v after %v", got, waited, transport.ErrBroken, timeout*2/3)
				}
				time.Sleep(time.Hour)
				if n := heard.count("attached"); n != 2 {
					t.Errorf("got %d connections, want 2", n)
				}
			})
		})
	}
}

// aside serves a connection as no ZooKeeper does: pings are answered ahead of earlier requests. All others are answered
// in order, after so long.
func aside(conn net.Conn, delay func(op int32) time.Duration) {
	if !welcome(conn, 7, 12000) {
		return
	}
	answers := make(chan []byte)
	stop, ended := make(chan struct{}), make(chan struct{})
	defer func() { close(stop); <-ended }()
	type late struct {
		frame []byte
		at    time.Time
	}
	slow := make(chan late, 1000)
	go func() {
		defer close(ended)
		var next late
		var queue <-chan late = slow
		var due <-chan time.Time
		for {
			var frame []byte
			select {
			case <-stop:
				return
			case frame = <-answers:
			case next = <-queue:
				queue, due = nil, time.After(time.Until(next.at))
				continue
			case <-due:
				frame, queue, due = next.frame, slow, nil
			}
			if _, err := conn.Write(frame); err != nil {
				_ = conn.Close()
			}
		}
	}()
	for frame, ok := request(conn); ok; frame, ok = request(conn) {
		xid, op := xidAndOp(frame)
		answer := reply(xid, 1, 0, nil)
		if op == int32(zktest.OpPing) {
			select {
			case answers <- answer:
			case <-ended:
			}
			continue
		}
		if op == int32(zktest.OpSync) {
			answer = reply(xid, 1, 0, frame[8:])
		}
		slow <- late{answer, time.Now().Add(delay(op))}
	}
}

// A server that answers pings aside is merely slow. Each connection that was left for that waits twice as long, and
// what the answer took is remembered.
func TestAServerThatAnswersPingsAheadOfSlowRequestsIsWaitedFor(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		took := 2 * timeout
		tr, heard := start(t, scripted(t, func(conn net.Conn) {
			aside(conn, func(op int32) time.Duration {
				if op == int32(zktest.OpDelete) {
					return took
				}
				return 0
			})
		}))
		attach(t, heard)
		time.Sleep(timeout)
		var waits []time.Duration
		del := func() error {
			t.Helper()
			done := make(chan error, 1)
			before := time.Now()
			eventually(t, "sent", func() bool { return tr.Send(transport.Delete("/a", -1, func(err error) { done <- err })) })
			// an answer to a request of another kind changes nothing
			do(t, tr, func(done func()) *transport.Call { return transport.Ping(func(error) { done() }) })
			err := <-done
			waits = append(waits, time.Since(before).Round(timeout/12))
			return err
		}
		sync := func() {
			t.Helper()
			eventually(t, "attached", func() bool { return heard.count("attached") == heard.count("detached")+1 })
			do(t, tr, func(done func()) *transport.Call { return transport.Sync("/", func(error) { done() }) })
		}
		for range 5 {
			_ = del()
			sync()
		}
		if want := []time.Duration{timeout * 2 / 3, timeout * 4 / 3, took, took, took}; !slices.Equal(waits, want) {
			t.Errorf("got waits of %v, want %v", waits, want)
		}
		took, waits = 0, nil
		_ = del()
		took = 2 * timeout
		_ = del()
		if want := []time.Duration{0, timeout * 2 / 3}; !slices.Equal(waits, want) {
			t.Errorf("got waits of %v after an answer without delay, want %v", waits, want)
		}
	})
}

// The bytes of an answer come slowly, behind the answer to a later ping. They are not cut off.
func TestAnAnswerWhoseBytesAreComingIsNotOverdue(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, scripted(t, func(conn net.Conn) {
			if !welcome(conn, 7, 12000) {
				return
			}
			var late []byte
			for frame, ok := request(conn); ok; frame, ok = request(conn) {
				xid, op := xidAndOp(frame)
				if op == int32(zktest.OpGetData) {
					late = reply(xid, 1, -101, nil)
					continue
				}
				_, _ = conn.Write(reply(xid, 1, 0, nil))
				if late == nil {
					continue
				}
				time.Sleep(timeout / 6) // so it begins T/6 before it would be overdue, and ends T/6 after that
				go drain(conn)
				for pause := timeout / 3 / time.Duration(len(late)); len(late) > 0; late = late[1:] {
					if _, err := conn.Write(late[:1]); err != nil {
						return
					}
					time.Sleep(pause)
				}
				time.Sleep(timeout)
			}
		}))
		attach(t, heard)
		time.Sleep(timeout/3 + time.Millisecond) // just after a ping
		done := make(chan error, 1)
		before := time.Now()
		tr.Send(transport.Get("/", false, func(_ []byte, _ *zk.Stat, err error) { done <- err }))
		if err, waited := <-done, time.Since(before); !errors.Is(err, zk.ErrNoNode) || waited <= timeout*2/3 {
			t.Errorf("got %v after %v, want %v after more than %v", err, waited, zk.ErrNoNode, timeout*2/3)
		}
	})
}

// A connection breaks by itself while a request waits behind an answered ping. That is no sign of a slow server.
func TestAConnectionThatBreaksByItselfAllowsTheNextRequestNoMoreTime(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		tr, heard := start(t, srv.DialContext)
		attach(t, heard)
		get := func() (waited time.Duration) {
			srv.SwallowReply(zktest.Match{Op: zktest.OpGetData})
			done := make(chan error, 1)
			before := time.Now()
			tr.Send(transport.Get("/", false, func(_ []byte, _ *zk.Stat, err error) { done <- err }))
			if err := <-done; !errors.Is(err, transport.ErrBroken) {
				t.Errorf("got %v, want %v", err, transport.ErrBroken)
			}
			return time.Since(before)
		}
		time.AfterFunc(timeout/2, srv.CutAll)
		if waited := get(); waited != timeout/2 {
			t.Fatalf("got an end after %v, the test needs one after %v", waited, timeout/2)
		}
		eventually(t, "attached again", func() bool { return heard.count("attached") == 2 })
		if waited := get(); waited != timeout*2/3 {
			t.Errorf("got an end after %v, want it after %v", waited, timeout*2/3)
		}
	})
}

// An answer has come in pieces. That ends with its last byte: a later answer that is lost is still overdue.
func TestALostAnswerBehindOneThatCameInPiecesIsOverdue(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, scripted(t, func(conn net.Conn) {
			if !welcome(conn, 7, 12000) {
				return
			}
			for frame, ok := request(conn); ok; frame, ok = request(conn) {
				xid, op := xidAndOp(frame)
				switch op {
				case int32(zktest.OpGetData):
					answer := reply(xid, 1, -101, nil)
					_, _ = conn.Write(answer[:10])
					time.Sleep(time.Second)
					_, _ = conn.Write(answer[10:])
				case int32(zktest.OpDelete):
				default:
					_, _ = conn.Write(reply(xid, 1, 0, nil))
				}
			}
		}))
		attach(t, heard)
		do(t, tr, func(done func()) *transport.Call {
			return transport.Get("/", false, func([]byte, *zk.Stat, error) { done() })
		})
		lost := make(chan error, 1)
		before := time.Now()
		tr.Send(transport.Delete("/a", -1, func(err error) { lost <- err }))
		if err, waited := <-lost, time.Since(before); !errors.Is(err, transport.ErrBroken) || waited > timeout {
			t.Errorf("got %v after %v, want %v within %v", err, waited, transport.ErrBroken, timeout)
		}
	})
}

// A ping that went ahead of the request is answered late, and proves nothing about the request.
func TestAnEarlierPingMakesNoRequestOverdue(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, scripted(t, func(conn net.Conn) {
			if !welcome(conn, 7, 12000) {
				return
			}
			for _, answer := range []struct {
				after time.Duration
				code  int32
			}{{timeout / 4, 0}, {timeout / 2, -101}} { // a ping, T/3 after the handshake; then the request
				frame, ok := request(conn)
				if !ok {
					return
				}
				time.Sleep(answer.after)
				xid, _ := xidAndOp(frame)
				_, _ = conn.Write(reply(xid, 1, answer.code, nil))
			}
			drain(conn)
		}))
		attach(t, heard)
		time.Sleep(timeout/3 + time.Millisecond)
		done := make(chan error, 1)
		before := time.Now()
		tr.Send(transport.Get("/", false, func(_ []byte, _ *zk.Stat, err error) { done <- err }))
		if err, waited := <-done, time.Since(before); !errors.Is(err, zk.ErrNoNode) || waited <= timeout*2/3 {
			t.Errorf("got %v after %v, want %v after more than %v", err, waited, zk.ErrNoNode, timeout*2/3)
		}
	})
}
