package zktest_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// A watcher is a raw connection of a test in a bubble, which sets watches and reads the events that come.
type watcher struct {
	t       *testing.T
	nc      net.Conn
	session int64
	heard   []string // not yet returned by events
}

func newWatcher(t *testing.T, srv *zktest.Server) *watcher {
	nc, id := attach(t, srv, nil)
	return &watcher{t: t, nc: nc, session: int64(binary.BigEndian.Uint64(id))}
}

func (w *watcher) ask(op zktest.Op, path string, rest ...byte) {
	w.t.Helper()
	if _, err := w.nc.Write(request(op, path, rest...)); err != nil {
		w.t.Fatal(err)
	}
	w.read()
}

func (w *watcher) watchData(path string)     { w.ask(zktest.OpGetData, path, 1) }
func (w *watcher) watchChildren(path string) { w.ask(zktest.OpGetChildren, path, 1) }
func (w *watcher) watchAlways(path string)   { w.ask(zktest.OpAddWatch, path, 0, 0, 0, 0) }
func (w *watcher) watchTree(path string)     { w.ask(zktest.OpAddWatch, path, 0, 0, 0, 1) }

// read reads all that has come, and keeps the events.
func (w *watcher) read() {
	w.t.Helper()
	synctest.Wait()
	w.nc.SetReadDeadline(time.Now().Add(time.Microsecond))
	b, err := io.ReadAll(w.nc)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		w.t.Fatalf("got %d bytes, then %v, want an open connection", len(b), err)
	}
	for len(b) > 0 {
		frame := b[4 : 4+binary.BigEndian.Uint32(b)]
		b = b[4+len(frame):]
		switch xid := int32(binary.BigEndian.Uint32(frame)); {
		case xid == -1:
			kind := []string{"", "created", "deleted", "data", "children"}[binary.BigEndian.Uint32(frame[16:])]
			w.heard = append(w.heard, fmt.Sprintf("%s %s", kind, frame[28:]))
		case binary.BigEndian.Uint32(frame[12:]) != 0:
			w.t.Fatalf("got error %d", int32(binary.BigEndian.Uint32(frame[12:])))
		}
	}
}

// want compares the events since the last call.
func (w *watcher) want(what string, want ...string) {
	w.t.Helper()
	w.read()
	if got := w.heard; !slices.Equal(got, want) {
		w.t.Errorf("%s: got the events %q, want %q", what, got, want)
	}
	w.heard = nil
}

// do fails the test on the first error.
func do(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestDropEventsDropsAllUntilItIsStopped(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		do(t, srv.Create("/a", nil), srv.Create("/b", nil))
		tree, other, plain := newWatcher(t, srv), newWatcher(t, srv), newWatcher(t, srv)
		tree.watchTree("/")
		other.watchTree("/")
		stopPath := srv.DropEvents(zktest.Match{Path: "/a*"})
		stopSession := srv.DropEvents(zktest.Match{Session: other.session})
		for range 3 {
			plain.watchData("/a")
			plain.watchChildren("/a")
			do(t, srv.SetData("/a", nil), srv.Create("/a/x", nil), srv.Delete("/a/x"), srv.SetData("/b", nil))
		}
		plain.want("plain watches on a path that loses events")
		tree.want("a tree watch", "data /b", "data /b", "data /b")
		other.want("a session that loses events")
		stopPath()
		stopPath()
		plain.watchData("/a")
		do(t, srv.SetData("/a", nil))
		plain.want("a plain watch after the stop", "data /a")
		tree.want("a tree watch after the stop", "data /a")
		other.want("a session that still loses events")
		stopSession()
		do(t, srv.SetData("/a", nil))
		other.want("the session after the stop", "data /a")
	})
}

func TestDropEventTwiceDropsTheNextTwo(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		do(t, srv.Create("/a", nil), srv.Create("/b", nil))
		w := newWatcher(t, srv)
		w.watchTree("/")
		for range 2 {
			srv.DropEvent(zktest.Match{Path: "/a"})
		}
		for range 3 {
			do(t, srv.SetData("/a", nil), srv.SetData("/b", nil))
		}
		w.want("a tree watch", "data /b", "data /b", "data /a", "data /b")
	})
}

func TestDropEventsTakesNothingFromDropEvent(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		do(t, srv.Create("/a", nil))
		w := newWatcher(t, srv)
		w.watchTree("/a")
		srv.DropEvent(zktest.Match{Nth: 2})
		stop := srv.DropEvents(zktest.Match{})
		do(t, srv.SetData("/a", nil), srv.SetData("/a", nil))
		stop()
		do(t, srv.SetData("/a", nil))
		w.want("the first after the stop", "data /a")
		do(t, srv.SetData("/a", nil))
		w.want("the second, which DropEvent means")
		do(t, srv.SetData("/a", nil))
		w.want("the third", "data /a")
	})
}
