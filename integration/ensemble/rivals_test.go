//go:build linux

package main_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
)

// A rival is another library's lock, with a holder and a second.
type rival struct {
	name     string
	knew     chan time.Time // when its holder first heard anything: that the connection is gone
	admitted chan time.Time
	path     string
	pings    *pings // the holder's, if they are recorded
	close    func()
}

// stands waits until two stand in a rival's queue; it reports false if that does not happen.
func (r *rival) stands(client *framework.Client) bool {
	return await.Within(patience, func() bool {
		children, _, err := client.Children(context.Background(), r.path)
		return err == nil && len(children) == 2
	})
}

// zkLock is go-zookeeper's own lock: all that its holder hears is the states of the connection.
func zkLock(t *testing.T, holderAt, secondAt string, session time.Duration) *rival {
	t.Helper()
	r := &rival{
		name: "go-zookeeper zk.Lock", path: "/rival/" + name("zklock"), pings: &pings{session: session},
		knew: make(chan time.Time, 1), admitted: make(chan time.Time, 1),
	}
	holder, _, err := zk.Connect([]string{holderAt}, session, zk.WithLogInfo(false), zk.WithLogger(silent{}),
		zk.WithDialer(r.pings.dial), zk.WithEventCallback(func(e zk.Event) {
			if e.State == zk.StateDisconnected || e.State == zk.StateExpired {
				select {
				case r.knew <- time.Now():
				default:
				}
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := zk.Connect([]string{secondAt}, session, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	r.close = func() { holder.Close(); second.Close() }
	// It fails if the machine stalls for the session, and may leave its node then.
	for deadline := time.Now().Add(patience); ; r.path = "/rival/" + name("zklock") {
		err := zk.NewLock(holder, r.path, zk.WorldACL(zk.PermAll)).Lock()
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			await.Fatalf(t, "a lock of go-zookeeper: %v", err)
		}
	}
	for len(r.knew) > 0 { // a first attempt that failed
		<-r.knew
	}
	go func() {
		if err := zk.NewLock(second, r.path, zk.WorldACL(zk.PermAll)).Lock(); err == nil {
			r.admitted <- time.Now()
		}
	}()
	return r
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// pings records the traffic of a connection as far as it takes to count a deadline from it.
type pings struct {
	session time.Duration

	mu   sync.Mutex
	sent []time.Time // pings on their way
	last time.Time   // when the newest answered one was sent
}

// deadline is when a lease would end that is counted from pings: the newest answered one, and the session's timeout.
func (p *pings) deadline() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.Add(p.session)
}

func (p *pings) dial(network, addr string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, addr, timeout)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.sent = nil
	p.mu.Unlock()
	in, tee := io.Pipe()
	go p.read(in)
	return &tapped{Conn: conn, pings: p, tee: tee}, nil
}

// read counts the answers to pings.
func (p *pings) read(in *io.PipeReader) {
	frames := bufio.NewReader(in)
	for first := true; ; first = false {
		var length [4]byte
		if _, err := io.ReadFull(frames, length[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(frames, frame); err != nil {
			return
		}
		if !first && int32(binary.BigEndian.Uint32(frame)) == -2 {
			p.mu.Lock()
			if len(p.sent) > 0 {
				p.last, p.sent = p.sent[0], p.sent[1:]
			}
			p.mu.Unlock()
		}
	}
}

// tapped is a connection whose frames are looked at. go-zookeeper writes one at a time.
type tapped struct {
	net.Conn
	pings *pings
	tee   *io.PipeWriter
}

func (c *tapped) Write(b []byte) (int, error) {
	if len(b) == 12 && int32(binary.BigEndian.Uint32(b[8:])) == 11 {
		c.pings.mu.Lock()
		c.pings.sent = append(c.pings.sent, time.Now())
		c.pings.mu.Unlock()
	}
	return c.Conn.Write(b)
}

func (c *tapped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	_, _ = c.tee.Write(b[:n])
	return n, err
}

func (c *tapped) Close() error {
	_ = c.tee.Close()
	return c.Conn.Close()
}
