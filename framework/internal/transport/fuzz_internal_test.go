package transport

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// canned is a connection from which fixed bytes are read.
type canned struct {
	net.Conn
	in *bytes.Reader
}

func (c canned) Read(p []byte) (int, error)       { return c.in.Read(p) }
func (c canned) SetReadDeadline(time.Time) error  { return nil }
func (c canned) SetWriteDeadline(time.Time) error { return nil }
func (c canned) SetDeadline(time.Time) error      { return nil }
func (c canned) Close() error                     { return nil }

// listen feeds stream to the reader of a connection on which one call of each kind waits, numbered from xidFirst in the
// order of calls, and returns why it ended.
func listen(t *testing.T, stream []byte) error {
	completed, detached := 0, 0
	once := func() func() {
		done := false
		return func() {
			if done || detached > 0 {
				t.Errorf("got a call completed (before: %t, detachments: %d), want it once, and before the detachment",
					done, detached)
			}
			done = true
			completed++
		}
	}
	stat := func() func(*zk.Stat, error) { f := once(); return func(*zk.Stat, error) { f() } }
	plain := func() func(error) { f := once(); return func(error) { f() } }
	created, got, listed, acl, multi := once(), once(), once(), once(), once()
	calls := []*Call{
		Create("/a", nil, nil, Ephemeral, 0, func(string, *zk.Stat, error) { created() }),
		Get("/a", true, func([]byte, *zk.Stat, error) { got() }),
		Children("/a", true, func([]string, *zk.Stat, error) { listed() }),
		GetACL("/a", func([]zk.ACL, *zk.Stat, error) { acl() }),
		Multi([]Op{CheckOp("/a", 1), DeleteOp("/a", 1)}, func(r []OpResult, err error) {
			multi()
			if err == nil && len(r) != 2 {
				t.Errorf("%d results of 2 parts", len(r))
			}
		}),
		Exists("/a", true, stat()), Set("/a", nil, 0, stat()), Delete("/a", 0, plain()), Sync("/a", plain()),
		SetWatches(1, []string{"/a", "/b"}, plain()),
	}
	tr := New(Config{Route: NewRoute(nil, nil), MaxFrame: 1 << 16, Logger: slog.New(slog.DiscardHandler), Events: Events{
		Detached: func(error) { detached++ },
		Answered: func(time.Time, time.Time, Reach) {},
		Watch:    func(WatchEvent) {},
		Failed:   func(string, error) {},
		GaveUp:   func() {},
	}})
	l := newLink(tr, canned{in: bytes.NewReader(stream)}, "zk:1")
	l.attached, l.patience, l.openedAt = true, time.Hour, time.Now()
	l.waiting.push(pending{xid: -2, op: 11})
	if !l.send(calls) {
		t.Fatal("got the calls refused, want them sent")
	}
	l.takeBatch()
	buf := make([]byte, 512)
	for {
		if _, err := l.Read(buf); err != nil {
			if completed != len(calls) || detached != 1 {
				t.Errorf("%d of %d calls were completed, and %d detachments reported", completed, len(calls), detached)
			}
			return err
		}
	}
}

func answerTo(i int, code int32, body []byte) []byte {
	var e encoder
	e.int32(int32(headerLen + len(body)))
	e.int32(int32(xidFirst + i))
	e.int64(1)
	e.int32(code)
	return append(e, body...)
}

func FuzzTheReaderTakesAnything(f *testing.F) {
	f.Add([]byte{})
	var all []byte
	for i := range 9 {
		all = append(all, answerTo(i, -101, nil)...)
		f.Add(answerTo(i, 0, bytes.Repeat([]byte{0, 0, 0, 1}, 30)))
		f.Add(answerTo(i, 0, []byte{0x7f, 0xff, 0xff, 0xff}))
		f.Add(answerTo(i, codeSaslRequired, nil))
	}
	f.Add(all)
	f.Add([]byte("HTTP/1.1 400 Bad Request"))
	event := encoder{}
	event.int32(headerLen + 12)
	event.int32(xidEvent)
	event.int64(-1)
	event.int32(0)
	event.int32(2)
	event.int32(3)
	event.string("/a")
	f.Add([]byte(event))
	f.Fuzz(func(t *testing.T, stream []byte) {
		err := listen(t, stream)
		if !errors.Is(err, errGarbage) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrAuth) {
			t.Errorf("ended with %v", err)
		}
	})
}

// A length that cannot be true must not cost memory.
func TestNoLengthIsBelieved(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, 0x7ffffff0)
	for i := range 5 {
		stream := answerTo(i, 0, long)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = listen(t, stream)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
			t.Errorf("answer %d: %d bytes were allocated", i, got)
		}
	}
	many := bytes.Repeat([]byte{0, 0, 0, 2, 0, 0, 0, 0, 0}, 5000) // results of a transaction of two parts
	d := decoder{rest: many}
	if got := d.multi(make([]Op, 2)); len(got) > 3 {
		t.Errorf("%d results of 2 parts", len(got))
	}
}

func TestTimesBetweenAttempts(t *testing.T) {
	if pause(0, 0) != 0 {
		t.Errorf("got a pause of %v before the first attempt, want none", pause(0, 0))
	}
	total, attempts := time.Duration(0), 0
	for failures := 1; total < 500*time.Millisecond; failures++ {
		total += pause(failures, 0.5)
		attempts++
	}
	if attempts < 8 || attempts > 14 {
		t.Errorf("%d attempts in the first half second", attempts)
	}
	for failures := range 1000 {
		for _, random := range []float64{0, 0.5, 0.999} {
			if d := pause(failures, random); d > time.Second || failures > 50 && d < 500*time.Millisecond {
				t.Fatalf("a pause of %v after %d failures", d, failures)
			}
		}
	}
}
