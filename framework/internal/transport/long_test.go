package transport_test

import (
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

func TestALongAnswerFailsItsOwnCallAndIsReadPast(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		for path, data := range map[string]int{"/fits": 4096 - 88, "/long": 4096 - 87} {
			if err := srv.Create(path, make([]byte, data)); err != nil {
				t.Fatal(err)
			}
		}
		tr, heard := start(t, srv.DialContext, func(cfg *transport.Config) { cfg.MaxFrame = 4096 })
		attach(t, heard)
		var errs []error
		note := func(err error) { errs = append(errs, err) }
		tr.Send(transport.Get("/fits", false, func(_ []byte, _ *zk.Stat, err error) { note(err) }),
			transport.Get("/long", false, func(_ []byte, _ *zk.Stat, err error) { note(err) }),
			transport.Exists("/", false, func(_ *zk.Stat, err error) { note(err) }))
		synctest.Wait()
		if len(errs) != 3 || errs[0] != nil || !errors.Is(errs[1], transport.ErrTooLarge) || errs[2] != nil {
			t.Errorf("got %v", errs)
		}
		if heard.count("detached") > 0 || len(heard.answers()) != 3 {
			t.Errorf("got the events %v and %d answers", heard.all(), len(heard.answers()))
		}
	})
}

func TestAServerMayBeSilentAfterALongAnswerAsAfterAnyOther(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		if err := srv.Create("/long", make([]byte, 5000)); err != nil {
			t.Fatal(err)
		}
		tr, heard := start(t, srv.DialContext, func(cfg *transport.Config) { cfg.MaxFrame = 4096 })
		attach(t, heard)
		do(t, tr, func(done func()) *transport.Call {
			return transport.Get("/long", false, func([]byte, *zk.Stat, error) { done() })
		})
		time.Sleep(timeout / 4) // the first ping comes later
		if got := heard.count("detached"); got > 0 {
			t.Errorf("got %d detachments, want none", got)
		}
	})
}

func TestALongAnswerThatTricklesEndsTheConnectionAfterAnEighthOfTheSession(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, scripted(t, func(conn net.Conn) {
			if !welcome(conn, 7, 12000) {
				return
			}
			frame, ok := request(conn)
			if !ok {
				return
			}
			xid, _ := xidAndOp(frame)
			long := reply(xid, 1, 0, nil)
			binary.BigEndian.PutUint32(long, 100<<20)
			conn.Write(long)
			go drain(conn)
			for {
				time.Sleep(10 * time.Millisecond)
				if _, err := conn.Write(make([]byte, 1000)); err != nil {
					return
				}
			}
		}))
		attach(t, heard)
		before := time.Now()
		var failed, broken time.Duration
		tr.Send(
			transport.Children("/", false, func(_ []string, _ *zk.Stat, err error) {
				failed = time.Since(before)
				if !errors.Is(err, transport.ErrTooLarge) {
					t.Errorf("the long one: %v", err)
				}
			}),
			transport.Exists("/", false, func(_ *zk.Stat, err error) {
				broken = time.Since(before)
				if !errors.Is(err, transport.ErrBroken) {
					t.Errorf("the next one: %v", err)
				}
			}))
		eventually(t, "detached", func() bool { return heard.count("detached") > 0 })
		if failed != 0 || broken != timeout/8 {
			t.Errorf("failed after %v, broken after %v, want 0 and %v", failed, broken, timeout/8)
		}
	})
}

func TestALongAnswerToARequestThatHasNoneEndsTheConnection(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, scripted(t, func(conn net.Conn) {
			if !welcome(conn, 7, 12000) {
				return
			}
			frame, _ := request(conn)
			xid, _ := xidAndOp(frame)
			conn.Write(reply(xid, 1, 0, make([]byte, 2<<20)))
			drain(conn)
		}))
		attach(t, heard)
		do(t, tr, func(done func()) *transport.Call {
			return transport.Create("/a", nil, open, transport.Persistent, 0, func(_ string, _ *zk.Stat, err error) {
				defer done()
				if !errors.Is(err, transport.ErrBroken) || errors.Is(err, transport.ErrTooLarge) {
					t.Errorf("got %v", err)
				}
			})
		})
		eventually(t, "detached", func() bool { return heard.count("detached") > 0 })
	})
}
