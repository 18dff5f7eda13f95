package locks_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A slowDisk is an ensemble that takes long to commit, as its client sees it: answers to writes come late, and
// everything behind them on the same connection. With aside, pings are answered ahead of them, as no ZooKeeper does.
type slowDisk struct {
	commit atomic.Int64 // time.Duration
	aside  bool
	dials  atomic.Int64
}

// commits are the requests that need a majority.
var commits = []zktest.Op{
	zktest.OpCreate, zktest.OpCreate2, zktest.OpCreateContainer, zktest.OpDelete, zktest.OpSetData, zktest.OpMulti,
}

func (d *slowDisk) dialer(link *zktest.Link) framework.Option {
	return framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		d.dials.Add(1)
		conn, err := link.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		s := &slowConn{Conn: conn, disk: d, late: make(map[uint32]time.Duration), frames: make(chan []byte), gone: make(chan struct{})}
		go s.deliver()
		return s, nil
	})
}

// A slowConn is a connection to a slowDisk.
type slowConn struct {
	net.Conn
	disk   *slowDisk
	frames chan []byte
	gone   chan struct{}
	once   sync.Once
	rest   []byte

	mu     sync.Mutex
	shaken bool
	late   map[uint32]time.Duration // by xid
}

func (s *slowConn) Close() error {
	s.once.Do(func() { close(s.gone) })
	return s.Conn.Close()
}

func (s *slowConn) Write(p []byte) (int, error) {
	s.mu.Lock()
	for rest := p; s.shaken && len(rest) > 0; rest = rest[4+binary.BigEndian.Uint32(rest):] {
		if slices.Contains(commits, zktest.Op(binary.BigEndian.Uint32(rest[8:]))) {
			s.late[binary.BigEndian.Uint32(rest[4:])] = time.Duration(s.disk.commit.Load())
		}
	}
	s.shaken = true
	s.mu.Unlock()
	return s.Conn.Write(p)
}

// deliver passes on what the server sends, each frame when it is due.
func (s *slowConn) deliver() {
	type frame struct {
		data []byte
		due  time.Time
	}
	arrived, aside := make(chan frame, 1000), make(chan []byte, 1000)
	go func() {
		defer func() { _ = s.Close() }()
		var due time.Time // when the frame before was due
		for first := true; ; first = false {
			data, err := readFrame(s.Conn)
			if err != nil {
				return
			}
			xid, now := binary.BigEndian.Uint32(data[4:]), time.Now()
			if first || s.disk.aside && xid == 0xfffffffe {
				aside <- data
				continue
			}
			s.mu.Lock()
			if at := now.Add(s.late[xid]); at.After(due) {
				due = at
			}
			s.mu.Unlock()
			arrived <- frame{data, due}
		}
	}()
	var next []byte
	var ready <-chan time.Time
	queue := arrived
	for {
		var data []byte
		select {
		case data = <-aside:
		case f := <-queue:
			next, ready, queue = f.data, time.After(time.Until(f.due)), nil
			continue
		case <-ready:
			data, ready, queue = next, nil, arrived
		case <-s.gone:
			return
		}
		select {
		case s.frames <- data:
		case <-s.gone:
			return
		}
	}
}

func readFrame(r io.Reader) ([]byte, error) {
	size := make([]byte, 4)
	if _, err := io.ReadFull(r, size); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(size))
	_, err := io.ReadFull(r, body)
	return slices.Concat(size, body), err
}

func (s *slowConn) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		select {
		case s.rest = <-s.frames:
		case <-s.gone:
			return 0, net.ErrClosed
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// While commits take longer than a third of the session, no lease can be valid for long, or at all. The contender
// waits, on few connections, and gets in when commits are quick again.
func TestAContenderAtASlowEnsembleWaitsAndGetsIn(t *testing.T) {
	for _, test := range []struct {
		commit time.Duration
		aside  bool
		dials  int64 // at most, in five minutes
	}{
		{sessionTimeout / 3, false, 3},
		{sessionTimeout / 2, false, 3},
		{sessionTimeout / 2, true, 3},
		{sessionTimeout, true, 8},
		{2 * sessionTimeout, true, 12},
		// nothing at all arrives for two thirds of the session
		{sessionTimeout, false, 50},
		{2 * sessionTimeout, false, 50},
	} {
		t.Run(fmt.Sprintf("commits of %v, pings aside %t", test.commit, test.aside), func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				disk := &slowDisk{aside: test.aside}
				p := newPeer(t, server, disk.dialer(server.NewLink()))
				time.Sleep(sessionTimeout)
				disk.commit.Store(int64(test.commit))
				before := disk.dials.Load()
				results := begin(t.Context(), t, p.mutex())
				time.Sleep(5 * time.Minute)
				if n := disk.dials.Load() - before; n > test.dials {
					t.Errorf("got %d reconnections in five minutes, want at most %d", n, test.dials)
				}
				disk.commit.Store(0)
				quick := time.Now()
				r := soon(t, results)
				lease := r.must(t)
				if late := r.at.Sub(quick); late > test.commit+2*sessionTimeout {
					t.Errorf("got in %v after commits were quick again", late)
				}
				time.Sleep(10 * sessionTimeout)
				if err := lease.Err(); err != nil && r.at.After(quick) {
					t.Errorf("the lease ended: %v", err)
				}
				if n := len(server.Children(path)); n > 1 {
					t.Errorf("got %d nodes, want 1", n)
				}
			})
		})
	}
}

// The commit of the contender's node alone takes long: at first nothing is held that must be renewed.
func TestAnAcquireOutlastsASlowCreation(t *testing.T) {
	for _, d := range []time.Duration{sessionTimeout / 2, sessionTimeout, 2 * sessionTimeout} {
		for _, aside := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, pings aside %t", d, aside), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					disk := &slowDisk{aside: aside}
					p := newPeer(t, server, disk.dialer(server.NewLink()))
					release(t, acquire(t, p.mutex()))
					time.Sleep(sessionTimeout)
					disk.commit.Store(int64(d))
					results := begin(t.Context(), t, p.mutex())
					disk.commit.Store(0)
					if waited := soon(t, results); waited.must(t) == nil || len(server.Children(path)) != 1 {
						t.Errorf("got the nodes %q, want one", server.Children(path))
					}
				})
			})
		}
	}
}

// The server executes a request, never answers it, and goes on answering pings.
func TestAnAcquireOutlastsALostAnswer(t *testing.T) {
	for name, op := range map[string]zktest.Op{"creation": zktest.OpCreate2, "listing": zktest.OpGetChildren2} {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprintf("of the %s, another lock held %t", name, held), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					disk := new(slowDisk)
					p := newPeer(t, server, disk.dialer(server.NewLink()))
					var other *locks.Lease
					if held {
						other = acquire(t, locks.NewInterProcessMutex(p.Client, "/locks/other"))
					}
					release(t, acquire(t, p.mutex()))
					time.Sleep(sessionTimeout)
					server.SwallowReply(zktest.Match{Op: op})
					before, dials := time.Now(), disk.dials.Load()
					r := soon(t, begin(t.Context(), t, p.mutex()))
					r.must(t)
					if waited := r.at.Sub(before); waited > sessionTimeout*2/3+100*time.Millisecond || disk.dials.Load() != dials+1 {
						t.Errorf("got in after %v and %d reconnections, want %v at most and 1", waited, disk.dials.Load()-dials, sessionTimeout*2/3)
					}
					if n := len(server.Children(path)); n != 1 {
						t.Errorf("got %d nodes, want 1", n)
					}
					if held && other.Err() != nil {
						t.Errorf("the other lock's lease ended: %v", other.Err())
					}
				})
			})
		}
	}
}

func TestAReleaseOutlastsALostAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, p.mutex())
		time.Sleep(sessionTimeout)
		server.SwallowReply(zktest.Match{Op: zktest.OpDelete})
		before := time.Now()
		release(t, lease)
		if waited := time.Since(before); waited > sessionTimeout*2/3+100*time.Millisecond {
			t.Errorf("got the release done after %v, want %v at most", waited, sessionTimeout*2/3)
		}
	})
}

// The network resets each connection while a listing is on its way, though other answers have come. That is no server
// that does not know the request.
func TestAnAcquireOutlastsResetsWithAListingOnItsWay(t *testing.T) {
	for _, listed := range []bool{true, false} {
		t.Run(fmt.Sprintf("listed before %t", listed), func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				if listed {
					release(t, acquire(t, p.mutex()))
				}
				for _, dir := range []string{"/locks", path} {
					_ = server.Create(dir, nil) // unless it is there
				}
				for n := range 15 {
					server.DropRequest(zktest.Match{Op: zktest.OpGetChildren2, Nth: n + 1})
				}
				ctx, stop := context.WithCancel(t.Context())
				var others sync.WaitGroup
				others.Go(func() {
					for ctx.Err() == nil {
						_, _ = p.Exists(ctx, "/")
						time.Sleep(time.Millisecond)
					}
				})
				defer others.Wait()
				defer stop()
				acquire(t, p.mutex())
				if n := server.Counts()[zktest.OpGetChildren2]; n == 0 {
					t.Error("got no listing, want one behind the resets")
				}
			})
		})
	}
}
