//go:build linux

package main_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
)

// A rival is another library's lock, with a holder and a second.
type rival struct {
	name     string
	told     chan time.Time // when its holder heard of anything: that the connection is gone, at first
	admitted chan time.Time
	path     string
	pings    *pings // of the holder, if it is recorded
	close    func()
}

// stands waits until two stand in a rival's queue; it reports false if that does not happen.
func (r *rival) stands(client *framework.Client) bool {
	return await.Within(patience, func() bool {
		children, _, err := client.Children(context.Background(), r.path)
		return err == nil && len(children) == 2
	})
}

// zkLock is go-zookeeper's own lock: it tells its holder nothing but the states of the connection.
func zkLock(t *testing.T, holderAt, secondAt string, session time.Duration) *rival {
	t.Helper()
	r := &rival{
		name: "go-zookeeper zk.Lock", path: "/rival/" + name("zklock"), pings: &pings{session: session},
		told: make(chan time.Time, 1), admitted: make(chan time.Time, 1),
	}
	holder, _, err := zk.Connect([]string{holderAt}, session, zk.WithLogInfo(false), zk.WithLogger(silent{}),
		zk.WithDialer(r.pings.dial), zk.WithEventCallback(func(e zk.Event) {
			if e.State == zk.StateDisconnected || e.State == zk.StateExpired {
				select {
				case r.told <- time.Now():
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
	for len(r.told) > 0 { // a first attempt that failed
		<-r.told
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

// otherLanguages are the drivers of integration/interop that can be run here.
func otherLanguages() map[string][]string {
	found := map[string][]string{}
	if classes, _ := filepath.Glob("../.cache/curator-*-driver-*"); len(classes) > 0 {
		dir, _ := filepath.Abs(classes[len(classes)-1])
		jars := regexp.MustCompile(`-driver-.*`).ReplaceAllString(dir, "")
		version := jars[strings.LastIndexByte(jars, '-')+1:]
		found["Java Curator "+version] = []string{
			"java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
			"-Djava.net.preferIPv4Stack=true", "-Dzookeeper.jmx.log4j.disable=true", "-cp", dir + ":" + jars + "/*", "Driver",
		}
	}
	python, _ := filepath.Abs("../.cache/kazoo/bin/python")
	source, err := os.ReadFile("../interop/kazoo/driver.py")
	if _, missing := os.Stat("../.cache/kazoo/complete"); err == nil && missing == nil {
		found["kazoo"] = []string{python, "-c", string(source)}
	}
	return found
}

// A driver is a process of another language, which obeys orders. Its protocol is described in
// integration/interop/godriver.
type driver struct {
	*child
	in     io.Writer
	events chan driverAnswer

	mu      sync.Mutex
	next    int64
	waiting map[int64]chan driverAnswer
}

type driverAnswer struct {
	ID    int64  `json:"id"`
	Event string `json:"event"`
	Who   string `json:"who"`
	OK    bool   `json:"ok"`
	Ended int64  `json:"ended"`
	Error string `json:"error"`
}

// at is when it happened: drivers tell the time by CLOCK_MONOTONIC.
func (a driverAnswer) at() time.Time {
	const clockMonotonic = 1
	var now syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return time.Now().Add(-time.Duration(now.Nano() - a.Ended))
}

func startDriver(t *testing.T, command []string) *driver {
	t.Helper()
	c, in, out := startChild(t, command)
	d := &driver{child: c, in: in, events: make(chan driverAnswer, 100), waiting: map[int64]chan driverAnswer{}}
	go d.listen(out)
	return d
}

func (d *driver) listen(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var a driverAnswer
		if json.Unmarshal(lines.Bytes(), &a) != nil {
			continue
		}
		d.mu.Lock()
		waiting := d.waiting[a.ID]
		d.mu.Unlock()
		switch {
		case waiting != nil:
			waiting <- a
		case a.Event != "":
			select {
			case d.events <- a:
			default:
			}
		}
	}
}

func (d *driver) order(order map[string]any) <-chan driverAnswer {
	answer := make(chan driverAnswer, 1)
	d.mu.Lock()
	d.next++
	order["id"] = d.next
	d.waiting[d.next] = answer
	d.mu.Unlock()
	line, err := json.Marshal(order)
	if err != nil {
		panic(err)
	}
	_, _ = d.in.Write(append(line, '\n'))
	return answer
}

func (d *driver) must(t *testing.T, order map[string]any) driverAnswer {
	t.Helper()
	select {
	case a := <-d.order(order):
		if a.Error != "" {
			t.Fatalf("%v: %s", order, a.Error)
		}
		return a
	case <-d.exited:
		t.Fatalf("%v: the driver has ended", order)
	case <-time.After(patience):
		await.Fatalf(t, "the answer to %v", order)
	}
	return driverAnswer{}
}

// foreign is a contest within one driver: its holder and its second have a client each.
func foreign(t *testing.T, language string, d *driver, holderAt, secondAt string, session time.Duration) *rival {
	t.Helper()
	r := &rival{name: language, path: "/rival/" + name("foreign"), told: make(chan time.Time, 1), admitted: make(chan time.Time, 1)}
	holder, second := r.path+"-holder", r.path+"-second"
	for who, at := range map[string]string{holder: holderAt, second: secondAt} {
		d.must(t, map[string]any{"op": "open", "client": who, "connect": at, "session": session.Milliseconds(), "data": "x"})
		d.must(t, map[string]any{
			"op": "contender", "who": who, "client": who, "recipe": "mutex", "path": r.path, "data": "x", "n": 1, "ms": -1,
		})
	}
	d.must(t, map[string]any{"op": "acquire", "who": holder, "ms": -1, "n": 1})
	for len(d.events) > 0 {
		<-d.events
	}
	granted := d.order(map[string]any{"op": "acquire", "who": second, "ms": -1, "n": 1})
	done := make(chan struct{})
	go func() {
		for {
			select {
			case a := <-granted:
				r.admitted <- a.at()
				granted = nil
			case e := <-d.events:
				if e.Who == holder {
					select {
					case r.told <- e.at():
					default:
					}
				}
			case <-done:
				return
			}
		}
	}()
	r.close = func() {
		close(done)
		d.must(t, map[string]any{"op": "close", "client": holder})
		d.must(t, map[string]any{"op": "close", "client": second})
	}
	return r
}
