package transport_test

import (
	"context"
	"encoding/binary"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

func TestAServerThatIsDownIsNotStormed(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		link := srv.NewLink()
		var dials atomic.Int64
		_, heard := start(t, func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) > 1000 {
				time.Sleep(time.Second) // otherwise the bubble's clock never moves
			}
			return link.DialContext(ctx, network, address)
		})
		attach(t, heard)
		time.Sleep(5 * time.Second) // an attachment that has lasted
		link.Cut()
		dials.Store(0)
		time.Sleep(500 * time.Millisecond)
		if n := dials.Load(); n < 5 || n > 15 {
			t.Errorf("%d dials in the first half second, want about ten", n)
		}
		dials.Store(0)
		time.Sleep(10 * time.Second)
		if n := dials.Load(); n > 40 {
			t.Errorf("%d dials in ten seconds after that", n)
		}
	})
}

func TestReconnectionAfterALastingConnectionIsImmediate(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		link := zktest.New(t).NewLink()
		_, heard := start(t, link.DialContext)
		attach(t, heard)
		time.Sleep(5 * time.Second)
		before := time.Now()
		link.Reset()
		eventually(t, "attached again", func() bool { return heard.count("attached") == 2 })
		if d := time.Since(before); d > 0 {
			t.Errorf("attached again after %v", d)
		}
	})
}

func TestAServerThatClosesAllConnectionsIsNotStormed(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		_, heard := start(t, scripted(t, func(conn net.Conn) { welcome(conn, 1, 12000) }))
		time.Sleep(10 * time.Second)
		if n := heard.count("attached"); n < 10 || n > 40 {
			t.Errorf("%d attachments in ten seconds", n)
		}
		if a, d := heard.count("attached"), heard.count("detached"); a != d && a != d+1 {
			t.Errorf("%d times attached, %d times detached", a, d)
		}
	})
}

// A ping's answer has no body. go-zookeeper gives up a connection on one that is longer than its buffer, without a
// further Read, so that the end went unnoticed: the next attachment came before the detachment.
func TestAPingAnswerWithABodyDoesNoHarm(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		_, heard := start(t, answering(t, func(xid, _ int32) []byte {
			return reply(xid, 1, 0, make([]byte, 100_000))
		}))
		time.Sleep(time.Minute)
		if a := heard.count("attached"); a != 1 {
			t.Errorf("attached %d times: %v", a, heard.all())
		}
	})
}

// Frames that end in the middle of a segment leave a part of the next frame in the buffer, at every frame for as long
// as the connection is busy.
func TestABusyConnectionIsNotTakenForASilentOne(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		_, heard := start(t, scripted(t, func(conn net.Conn) {
			if !welcome(conn, 1, 12000) {
				return
			}
			event := append([]byte{0, 0, 0, 0, 0, 0, 0, 3}, 0, 0, 0, 2, '/', 'a')
			event[3] = 3
			frame := reply(-1, 0, 0, event)
			stream := append([]byte(nil), frame[:9]...)
			go func() {
				for { // pings
					if _, ok := request(conn); !ok {
						return
					}
				}
			}()
			for {
				stream = append(append(stream, frame[9:]...), frame[:9]...)
				if _, err := conn.Write(stream); err != nil {
					return
				}
				stream = stream[:0]
				time.Sleep(100 * time.Millisecond)
			}
		}))
		time.Sleep(5 * timeout)
		if heard.count("detached") > 0 {
			t.Errorf("the connection was given up with %d events heard", heard.count("watch"))
		}
	})
}

func TestASilentConnectionIsGivenUpAfterTwoThirdsOfTheTimeout(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		link := server(t).NewLink()
		_, heard := start(t, link.DialContext)
		attach(t, heard)
		link.Mute()
		start := time.Now()
		eventually(t, "detached", func() bool { return heard.count("detached") == 1 })
		if d := time.Since(start); d < timeout*7/12 || d > timeout*2/3+10*time.Millisecond {
			t.Errorf("given up after %v", d)
		}
	})
}

func TestTheHighestZxidGoesIntoTheNextSessionsHandshake(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zxids := make(chan int64, 10)
		_, _ = start(t, scripted(t, func(conn net.Conn) {
			frame, ok := request(conn)
			if ok {
				var zxid int64
				for _, b := range frame[4:12] {
					zxid = zxid<<8 | int64(b)
				}
				select {
				case zxids <- zxid:
				default:
				}
			}
		}), func(c *transport.Config) { c.LastZxid = 77 })
		if got := <-zxids; got != 77 {
			t.Errorf("the handshake's zxid: got %d, want 77", got)
		}
	})
}

func TestAnExpiredSessionIsNeverOpenedAgain(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		tr, heard := start(t, srv.DialContext)
		attach(t, heard)
		srv.ExpireSession(heard.attached[0].SessionID)
		time.Sleep(time.Hour)
		if heard.count("expired") != 1 || heard.count("attached") != 1 || len(srv.Sessions()) != 0 {
			t.Errorf("got the events %v, and the server has %d sessions", heard.all(), len(srv.Sessions()))
		}
		if tr.Send(transport.Sync("/", func(error) { t.Error("completed") })) {
			t.Error("got a call taken by a transport that is over, want it refused")
		}
		before := time.Now()
		tr.Close(time.Second)
		if d := time.Since(before); d > 0 {
			t.Errorf("Close took %v", d)
		}
	})
}

// ClickHouse Keeper answers every handshake with a new session.
func TestASessionThatIsAnsweredWithAnotherHasExpired(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var foreign []int32 // requests in sessions that were not asked for
		next := int64(0)
		_, heard := start(t, scripted(t, func(conn net.Conn) {
			next++
			if !welcome(conn, next, 12000) || next == 1 {
				return
			}
			for {
				frame, ok := request(conn)
				if !ok {
					return
				}
				_, op := xidAndOp(frame)
				foreign = append(foreign, op)
			}
		}))
		eventually(t, "expired", func() bool { return heard.count("expired") > 0 })
		time.Sleep(time.Hour)
		if got := heard.all(); !slices.Equal(got, []string{"attached", "detached", "expired"}) {
			t.Errorf("got the events %v", got)
		}
		if !slices.Equal(foreign, []int32{-11}) || next != 2 {
			t.Errorf("%d handshakes; in the foreign session the server heard %v, want only its end", next, foreign)
		}
	})
}

func TestAServerThatClosesAllConnectionsAfterAMomentIsNotStormed(t *testing.T) {
	for _, moment := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 300 * time.Millisecond} {
		zktest.Bubble(t, func(t *testing.T) {
			_, heard := start(t, scripted(t, func(conn net.Conn) {
				if welcome(conn, 1, 12000) {
					time.Sleep(moment)
				}
			}))
			time.Sleep(10 * time.Second)
			if n := heard.count("attached"); n < 7 || n > 30 {
				t.Errorf("%d attachments of %v in ten seconds", n, moment)
			}
		})
	}
}

// A reconnection's handshake has the zxid that was seen in the connection before, and its time counts from its own
// sending.
func TestAReconnectionsHandshakeHasTheNewestZxidAndItsOwnTime(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var zxids []int64
		tr, heard := start(t, scripted(t, func(conn net.Conn) {
			frame, ok := request(conn)
			if !ok {
				return
			}
			zxids = append(zxids, int64(binary.BigEndian.Uint64(frame[4:])))
			time.Sleep(300 * time.Millisecond)
			if _, err := conn.Write(welcomeFrame(1, 12000)); err != nil {
				return
			}
			if frame, ok = request(conn); !ok {
				return
			}
			xid, _ := xidAndOp(frame)
			conn.Write(reply(xid, int64(100*len(zxids)), 0, []byte{0, 0, 0, 1, '/'}))
			time.Sleep(time.Second)
		}))
		begun := time.Now()
		for range 3 {
			time.Sleep(2300 * time.Millisecond)
			tr.Send(transport.Sync("/", func(error) {}))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if want := []int64{0, 100, 200, 300}; !slices.Equal(zxids, want) {
			t.Errorf("the handshakes' zxids: got %v, want %v", zxids, want)
		}
		for i, a := range heard.attached {
			sent := time.Duration(i) * 3300 * time.Millisecond
			if got := a.Sent.Sub(begun); got != sent || a.Received.Sub(a.Sent) != 300*time.Millisecond {
				t.Errorf("handshake %d was sent after %v and answered %v later, want %v and 300ms", i, got, a.Received.Sub(a.Sent), sent)
			}
		}
	})
}

// The server answers the question for its newest zxid, and hangs up on the handshake that names it.
func TestAServerThatHangsUpOnItsOwnZxidIsNotStormed(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var dials atomic.Int64
		_, heard := start(t, scripted(t, func(conn net.Conn) {
			if dials.Add(1) > 1000 {
				time.Sleep(time.Second) // otherwise the bubble's clock never moves
			}
			frame, ok := request(conn)
			if !ok || binary.BigEndian.Uint64(frame[4:]) != 0 {
				return
			}
			if _, err := conn.Write(welcomeFrame(1, 12000)); err != nil {
				return
			}
			var answers []byte
			for range 2 { // a sync and a read, which come in one segment
				frame, ok := request(conn)
				if !ok {
					return
				}
				xid, _ := xidAndOp(frame)
				answers = append(answers, reply(xid, 5, 0, nil)...)
			}
			if _, err := conn.Write(answers); err == nil {
				request(conn) // the end of the session
			}
		}), func(c *transport.Config) { c.LastZxid = 77 })
		time.Sleep(10 * time.Second)
		if n := dials.Load(); n < 10 || n > 80 || heard.count("restarted 77 5") != 1 || heard.count("attached") > 0 {
			t.Errorf("got %d dials in ten seconds, and the events %v", n, heard.all())
		}
	})
}
