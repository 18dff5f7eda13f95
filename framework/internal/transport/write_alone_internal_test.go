//go:build unix

package transport

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// tcpPair returns both ends of a TCP connection.
func tcpPair(t *testing.T) (ours, peer *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialed, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = dialed.Close()
		_ = accepted.Close()
	})
	return dialed.(*net.TCPConn), accepted.(*net.TCPConn)
}

// attachedLink returns a link that takes requests, and whose writeLoop does not run.
func attachedLink(t *testing.T, conn net.Conn) *link {
	t.Helper()
	tr := New(Config{Route: NewRoute(nil, nil), MaxFrame: 1 << 24, Logger: slog.New(slog.DiscardHandler)})
	l := newLink(tr, conn, "zk:1")
	l.attached, l.patience, l.openedAt = true, time.Hour, time.Now()
	tr.link = l
	t.Cleanup(func() { l.fail(io.EOF) })
	return l
}

func setOf(size int) *Call { return Set("/a", make([]byte, size), -1, statDone(nil)) }

// xidsOf reads n frames, which must be whole, and returns their numbers and lengths.
func xidsOf(t *testing.T, peer net.Conn, n int) (xids, lengths []int) {
	t.Helper()
	_ = peer.SetReadDeadline(time.Now().Add(time.Minute))
	var buf []byte
	for range n {
		frame, err := readFrame(peer, buf, 1<<24)
		if err != nil {
			t.Fatalf("after %d of %d frames: %v", len(xids), n, err)
		}
		buf = frame[:0]
		xids = append(xids, int(binary.BigEndian.Uint32(frame[4:])))
		lengths = append(lengths, len(frame))
	}
	return xids, lengths
}

// writeLoop does not run here.
func TestARequestThatIsAloneIsWrittenByItsSender(t *testing.T) {
	ours, peer := tcpPair(t)
	l := attachedLink(t, ours)
	before := time.Now()
	u, queued := l.t.Queue(Exists("/a", true, func(*zk.Stat, error) {}))
	if !queued || u.link == nil {
		t.Fatalf("got it queued: %t, left to the sender: %t; want both", queued, u.link != nil)
	}
	u.Write()
	if sent := l.waiting.all[0].sent; sent.Before(before) || l.waiting.written != 1 {
		t.Errorf("got it stamped %v and %d written, want a time since %v, and one", sent, l.waiting.written, before)
	}
	if xids, _ := xidsOf(t, peer, 1); xids[0] != xidFirst {
		t.Errorf("got request %#x, want %#x", xids[0], xidFirst)
	}
	if l.writing || len(l.wake) != 0 {
		t.Errorf("got writing: %t, writeLoop called %d times; want neither", l.writing, len(l.wake))
	}
}

// Others are likely to come: the loop collects them.
func TestARequestBesideOthersIsLeftToTheLoop(t *testing.T) {
	for name, busy := range map[string]func(l *link){
		"one waits for its answer": func(l *link) { l.send([]*Call{setOf(1)}); l.wrote(l.takeBatch()) },
		"one waits to be written":  func(l *link) { l.send([]*Call{setOf(1)}) },
		"a ping of go-zookeeper":   func(l *link) { _, _ = l.Write(append([]byte{0, 0, 0, 8}, bytes.Repeat([]byte{255}, 8)...)) },
		"a write is under way":     func(l *link) { l.writing = true },
		"no TCP connection":        func(l *link) { l.socket = newSocket(struct{ net.Conn }{l.raw}) },
		"a socket that is embedded": func(l *link) {
			l.socket = newSocket(struct{ *net.TCPConn }{l.raw.(*net.TCPConn)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			ours, _ := tcpPair(t)
			l := attachedLink(t, ours)
			busy(l)
			for len(l.wake) > 0 {
				<-l.wake
			}
			u, queued := l.t.Queue(setOf(2))
			if !queued || u.link != nil || len(l.wake) != 1 {
				t.Errorf("got it queued: %t, left to the sender: %t, loop called: %d; want it queued, and the loop called", queued, u.link != nil, len(l.wake))
			}
		})
	}
}

// The peer reads nothing until the sender has returned: the socket takes a part, and the loop goes on with the rest
// before anything that was queued later.
func TestWhatTheSocketDoesNotTakeGoesAheadOfLaterRequests(t *testing.T) {
	ours, peer := tcpPair(t)
	_ = ours.SetWriteBuffer(64 << 10)
	_ = peer.SetReadBuffer(64 << 10)
	l := attachedLink(t, ours)
	const size = 12 << 20
	u, _ := l.t.Queue(setOf(size))
	returned := make(chan struct{})
	go func() {
		u.Write()
		close(returned)
	}()
	select {
	case <-returned:
	case <-time.After(time.Minute):
		t.Fatal("Write waits for the peer, want it to return")
	}
	if len(l.rest) == 0 || len(l.rest) >= size || !l.writing {
		t.Fatalf("got %d bytes left and writing: %t; want a part, and the write under way", len(l.rest), l.writing)
	}
	if u, _ := l.t.Queue(setOf(10)); u.link != nil {
		t.Error("the next one is left to its sender, want it behind the rest")
	}
	l.t.wg.Go(l.writeLoop)
	xids, lengths := xidsOf(t, peer, 2)
	if xids[0] != xidFirst || xids[1] != xidFirst+1 || lengths[0] < size || lengths[1] > 100 {
		t.Errorf("got requests %#x of %d bytes, want %#x and the next, the long one first", xids, lengths, xidFirst)
	}
	l.fail(io.EOF)
	l.t.wg.Wait()
}

// A frame that is queued while a sender writes has a writer: the sender calls the loop, which has looked before.
func TestARequestThatComesDuringAWriteIsWritten(t *testing.T) {
	ours, peer := tcpPair(t)
	l := attachedLink(t, ours)
	once := l.socket.once
	l.socket.once = func(fd uintptr) bool {
		l.socket.once = once
		if u, queued := l.t.Queue(setOf(2)); !queued || u.link != nil || l.takeBatch() != nil {
			t.Error("got it refused, left to its sender, or a second writer; want it queued")
		}
		<-l.wake // the loop finds a writer, and sleeps
		return once(fd)
	}
	u, _ := l.t.Queue(setOf(1))
	u.Write()
	if len(l.wake) != 1 {
		t.Fatal("got writeLoop asleep, want it called")
	}
	l.t.wg.Go(l.writeLoop)
	if xids, _ := xidsOf(t, peer, 2); xids[1] != xidFirst+1 {
		t.Errorf("got requests %#x, want the second behind the first", xids)
	}
	l.fail(io.EOF)
	l.t.wg.Wait()
}

// Senders of all kinds and answers come at random; every frame arrives, whole, in the order of the numbers.
func TestFramesOfAllSendersLeaveInTheirOrder(t *testing.T) {
	ours, peer := tcpPair(t)
	_ = ours.SetWriteBuffer(16 << 10)
	l := attachedLink(t, ours)
	l.t.wg.Go(l.writeLoop)
	const senders, each = 8, 300
	for s := range senders {
		go func() {
			random := rand.New(rand.NewPCG(uint64(s), 1))
			for range each {
				c := setOf(random.IntN(20) * random.IntN(20) * random.IntN(20))
				if random.IntN(3) == 0 {
					l.t.Send(c)
					continue
				}
				u, _ := l.t.Queue(c)
				u.Write()
			}
		}()
	}
	_ = peer.SetReadDeadline(time.Now().Add(time.Minute))
	var buf []byte
	for i := range senders * each {
		frame, err := readFrame(peer, buf, 1<<24)
		if err != nil {
			t.Fatalf("after %d of %d frames: %v", i, senders*each, err)
		}
		buf = frame[:0]
		if got := int(binary.BigEndian.Uint32(frame[4:])); got != xidFirst+i {
			t.Fatalf("got request %#x, want %#x", got, xidFirst+i)
		}
		if _, ok := l.answered(int32(xidFirst + i)); !ok { // now and then all are answered
			t.Fatalf("request %#x arrived, and is not stamped as written", xidFirst+i)
		}
	}
	l.fail(io.EOF)
	l.t.wg.Wait()
}

func TestAWriteThatFailsEndsTheLink(t *testing.T) {
	ours, _ := tcpPair(t)
	l := attachedLink(t, ours)
	u, _ := l.t.Queue(setOf(1))
	_ = ours.Close()
	u.Write()
	if l.reason == nil {
		t.Error("got no reason, want the error of the write")
	}
}

// The system reports a reset once, to a write or a read; later writes meet a broken pipe, and reads the end.
func TestAResetThatTheSenderMeetsIsTheReason(t *testing.T) {
	ours, peer := tcpPair(t)
	l := attachedLink(t, ours)
	_ = peer.SetLinger(0)
	_ = peer.Close()
	for i := 0; l.reason == nil; i++ { // until the reset has arrived
		u, queued := l.t.Queue(setOf(1))
		if !queued || u.link == nil {
			t.Fatal("the request is not left to its sender")
		}
		u.Write()
		l.answered(int32(xidFirst + i))
	}
	var op *net.OpError
	if !errors.Is(l.reason, syscall.ECONNRESET) || !errors.As(l.reason, &op) || op.Addr == nil {
		t.Errorf("got reason %v, want the reset, with its addresses", l.reason)
	}
}

func TestAWriteWithoutBlockingAllocatesNothing(t *testing.T) {
	ours, peer := tcpPair(t)
	go func() { _, _ = io.Copy(io.Discard, peer) }()
	s := newSocket(ours)
	frame := make([]byte, 100)
	if got := testing.AllocsPerRun(100, func() { _, _ = s.write(frame) }); got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}
