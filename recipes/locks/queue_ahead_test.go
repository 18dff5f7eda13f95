package locks_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// A meter counts what a client's connection carries.
type meter struct {
	mu     sync.Mutex
	events int
	bytes  int
}

func (m *meter) take() (events, bytes int) {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	events, bytes = m.events, m.bytes
	m.events, m.bytes = 0, 0
	return events, bytes
}

// A meteredConn has what it carries counted.
type meteredConn struct {
	net.Conn
	by      *meter
	frames  []byte // what the server has sent, from the beginning of the present frame on
	greeted bool
}

func (c *meteredConn) Write(p []byte) (int, error) {
	c.by.mu.Lock()
	c.by.bytes += len(p)
	c.by.mu.Unlock()
	return c.Conn.Write(p)
}

func (c *meteredConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.by.mu.Lock()
	defer c.by.mu.Unlock()
	c.by.bytes += n
	c.frames = append(c.frames, p[:n]...)
	for len(c.frames) >= 8 && len(c.frames) >= 4+int(binary.BigEndian.Uint32(c.frames)) {
		if c.greeted && int32(binary.BigEndian.Uint32(c.frames[4:])) == -1 {
			c.by.events++
		}
		c.greeted = true
		c.frames = c.frames[4+binary.BigEndian.Uint32(c.frames):]
	}
	return n, err
}

// meteredPeer is a peer whose requests, events and bytes are counted.
func meteredPeer(t *testing.T, server *zktest.Server) (*peer, *meter) {
	t.Helper()
	m := &meter{}
	link := lockstest.NewLink("zktest:2181", server.NewLink().DialContext)
	p := newPeer(t, server, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := link.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &meteredConn{Conn: conn, by: m}, nil
	}))
	p.link = link
	return p, m
}

// sentIn is what a contended cycle sends, with so many listings.
func sentIn(listings int) map[lockstest.Op]int {
	return map[lockstest.Op]int{lockstest.Create: 1, lockstest.GetChildren: listings, lockstest.SetWatches: 1, lockstest.Delete: 1}
}

// waitOnce makes the client's first wait in the directory, which reads the node that it waits for.
func waitOnce(t *testing.T, server *zktest.Server, p *peer) {
	t.Helper()
	ahead := stranded(t, server, 1)
	waiter := begin(t.Context(), t, p.mutex())
	synctest.Wait()
	remove(t, server, ahead[0])
	release(t, soon(t, waiter).must(t))
	p.link.Requests()
}

// With at most three ahead a contender learns of the end of each, and lists once. The last event of each cycle is that
// of its own node.
func TestTheCostOfAContendedCycle(t *testing.T) {
	mutex := func(p *peer) locks.Lock { return p.mutex() }
	write := func(p *peer) locks.Lock { return readWrite(p).WriteLock() }
	read := func(p *peer) locks.Lock { return readWrite(p).ReadLock() }
	type cost struct {
		ahead, listings, reads, events int
	}
	for name, test := range map[string]struct {
		theirs, mine func(*peer) locks.Lock
		costs        []cost
	}{
		"a mutex": {mutex, mutex, []cost{{1, 1, 0, 2}, {2, 1, 0, 3}, {3, 1, 0, 4}, {4, 2, 0, 3}, {9, 2, 0, 3}}},
		// They end in any order: the last one is read.
		"a writer behind readers": {read, write, []cost{{1, 1, 0, 2}, {2, 1, 1, 3}, {3, 2, 1, 3}, {4, 2, 1, 3}, {9, 2, 1, 3}}},
		// The nearest is awaited alone. A view that has one more has it read, and finds that it is gone.
		"a reader behind writers": {write, read, []cost{{1, 1, 0, 2}, {2, 1, 1, 2}, {3, 2, 0, 2}, {9, 2, 0, 2}}},
		// It lists once more in any case: a writer that has left may have become a reader.
		"a writer behind writers": {write, write, []cost{{1, 2, 0, 2}, {2, 2, 0, 2}, {3, 2, 0, 2}, {9, 2, 0, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range test.costs {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					p, m := meteredPeer(t, server)
					waitOnce(t, server, p)
					var ahead []<-chan result
					for range c.ahead {
						ahead = append(ahead, begin(t.Context(), t, test.theirs(newPeer(t, server))))
					}
					m.take()
					last := begin(t.Context(), t, test.mine(p))
					for _, waiter := range ahead {
						release(t, soon(t, waiter).must(t))
						synctest.Wait()
					}
					release(t, soon(t, last).must(t))
					events, _ := m.take()
					want := sentIn(c.listings)
					if c.reads > 0 {
						want[lockstest.GetData] = c.reads
					}
					if got := p.link.Requests(); !maps.Equal(got, want) || events != c.events {
						t.Errorf("%d ahead: it sent %v and got %d events, want %v and %d", c.ahead, got, events, want, c.events)
					}
					if n := server.WatchCount(); n != 0 {
						t.Errorf("%d ahead: %d watches are left", c.ahead, n)
					}
				})
			}
		})
	}
}

// stranded makes nodes of another client, and returns their paths.
func stranded(t *testing.T, server *zktest.Server, n int) (nodes []string) {
	t.Helper()
	for _, dir := range []string{"/locks", path} {
		if !server.Exists(dir) {
			must(t, server.Create(dir, nil))
		}
	}
	for i := range n {
		nodes = append(nodes, fmt.Sprintf("%s/_c_6ba7b810-9dad-41d1-80b4-00c04fd430c8-lock-%010d", path, i))
		must(t, server.Create(nodes[i], nil))
	}
	return nodes
}

// The view hears of each end, so it knows what is left.
func TestThreeAheadMayEndInAnyOrderWithoutAListing(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			p := newPeer(t, server)
			waitOnce(t, server, p)
			nodes := stranded(t, server, 3)
			last := begin(t.Context(), t, p.mutex())
			for _, i := range order {
				isWaiting(t, last)
				must(t, server.Delete(nodes[i]))
			}
			synctest.Wait() // no pause stands before the admission
			select {
			case r := <-last:
				release(t, r.must(t))
			default:
				t.Fatalf("ends in the order %v: it waits, want a grant with the last event", order)
			}
			if got, want := p.link.Requests(), sentIn(1); !maps.Equal(got, want) {
				t.Errorf("ends in the order %v: it sent %v, want %v", order, got, want)
			}
		})
	}
}

// After a sixteenth of a session timeout the node that is waited for is read, no other one: that the client may read
// its own is certain.
func TestAWaitThatLastsReadsTheNodesThatItWaitsFor(t *testing.T) {
	for ahead, c := range map[int]struct{ listings, reads int }{1: {1, 1}, 2: {1, 2}, 3: {1, 2}, 4: {2, 2}, 9: {2, 2}} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			p := newPeer(t, server)
			waitOnce(t, server, p)
			nodes := stranded(t, server, ahead)
			last := begin(t.Context(), t, p.mutex())
			for i, node := range nodes {
				if len(nodes)-i <= 2 { // the next nearest, and the nearest
					time.Sleep(sessionTimeout / 4)
				}
				must(t, server.Delete(node))
				synctest.Wait() // remove would let time pass
			}
			release(t, soon(t, last).must(t))
			want := sentIn(c.listings)
			want[lockstest.GetData] = c.reads
			if got := p.link.Requests(); !maps.Equal(got, want) {
				t.Errorf("%d ahead: it sent %v, want %v", ahead, got, want)
			}
		})
	}
}

// The contender has set the watch on its node, so the hold's own watch takes no request.
func TestAHoldAfterAWaitReadsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		waitOnce(t, server, p)
		nodes := stranded(t, server, 1)
		waiter := begin(t.Context(), t, p.mutex())
		remove(t, server, nodes[0])
		lease := soon(t, waiter).must(t)
		time.Sleep(sessionTimeout / 2)
		if got := p.link.Requests()[lockstest.GetData]; got != 0 {
			t.Errorf("got %d reads, want none", got)
		}
		remove(t, server, path+"/"+lease.NodeName())
		wantErr(t, lease.Err(), locks.ErrLeaseLost)
	})
}

// The server hangs up on a longer request.
func TestWatchesThatDoNotFitIntoOneRequestAreSetBySeveral(t *testing.T) {
	const most = 4096
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server, framework.WithMaxRequest(most))
		dir := "/" + strings.Repeat("x", 1973) // two nodes in it fit exactly
		must(t, server.Create(dir, nil))
		ahead := func(n int) (nodes []string) {
			for i := range n {
				node := fmt.Sprintf("%s/_c_6ba7b810-9dad-41d1-80b4-00c04fd430c8-lock-%010d", dir, i)
				must(t, server.Create(node, nil))
				nodes = append(nodes, node)
			}
			return nodes
		}
		for _, c := range []struct{ ahead, sets int }{{1, 1}, {3, 2}} {
			nodes := ahead(c.ahead)
			waiter := begin(t.Context(), t, locks.NewInterProcessMutex(p.Client, dir))
			if got := p.link.Requests()[lockstest.SetWatches]; got != c.sets {
				t.Errorf("%d ahead: got %d requests that set watches, want %d", c.ahead, got, c.sets)
			}
			for _, node := range nodes {
				remove(t, server, node)
			}
			release(t, soon(t, waiter).must(t))
			if n := server.WatchCount(); n != 0 {
				t.Errorf("%d ahead: %d watches are left", c.ahead, n)
			}
		}
	}, zktest.WithMaxFrame(most))
}

func TestContenderThatLeavesEarlyTakesAllItsWatchesOff(t *testing.T) {
	for ahead, watched := range map[int]int{1: 1, 2: 2, 3: 3, 4: 2, 9: 2} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			p := newPeer(t, server)
			waitOnce(t, server, p)
			stranded(t, server, ahead)
			ctx, cancel := context.WithCancel(t.Context())
			waiter := begin(ctx, t, p.mutex())
			if got := server.WatchCount(); got != 1+watched {
				t.Errorf("%d ahead: got %d watches, want its own and %d", ahead, got, watched)
			}
			cancel()
			if r := soon(t, waiter); r.err == nil {
				t.Error("got a lock that other nodes hold, want an error")
			}
			synctest.Wait()
			want := sentIn(1)
			want[lockstest.GetData] = 1 // the node that it waited for: its end may have come unheard
			want[lockstest.RemoveWatches] = watched
			if got := p.link.Requests(); !maps.Equal(got, want) || server.WatchCount() != 0 {
				t.Errorf("%d ahead: it sent %v and left %d watches, want %v and none", ahead, got, server.WatchCount(), want)
			}
		})
	}
}

// From the wait on, the bytes of a hand-over do not depend on how many have come since, unless the contender lists.
func TestTheBytesOfAHandoverAreThoseOfItsEvents(t *testing.T) {
	bytes := func(ahead, behind int) (sum int) {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			p, m := meteredPeer(t, server)
			waitOnce(t, server, p)
			nodes := stranded(t, server, ahead)
			waiter := begin(t.Context(), t, p.mutex())
			for range behind {
				begin(t.Context(), t, newPeer(t, server).mutex())
			}
			m.take()
			for _, node := range nodes {
				must(t, server.Delete(node))
				synctest.Wait()
			}
			lease := soon(t, waiter).must(t)
			_, sum = m.take()
			release(t, lease)
		})
		return sum
	}
	const event, name = 4 + 16 + 4 + 4 + 4, len("_c_6ba7b810-9dad-41d1-80b4-00c04fd430c8-lock-0000000000")
	if got, want := bytes(3, 0), 3*(event+len(path)+1+name); got != want {
		t.Errorf("got %d bytes with three ahead, want those of three events, %d", got, want)
	}
	if alone, followed := bytes(3, 0), bytes(3, 20); alone != followed {
		t.Errorf("got %d bytes with three ahead, and %d with twenty behind, want as many", alone, followed)
	}
	if alone, followed := bytes(4, 0), bytes(4, 20); followed < alone+20*name {
		t.Errorf("got %d bytes with four ahead, and %d with twenty behind, want a listing of all", alone, followed)
	}
}

// Behind A to D, a contender has heard that C has ended, and not D. Either A and B have ended too, and it may wait for
// D alone; or B is still there. What a server says of a directory in a few bytes is the same: only names tell.
func TestTwoQueuesThatOnlyAListingTellsApart(t *testing.T) {
	type seen struct{ children, cversion int32 }
	play := func(deletions []int, newcomerLeaves bool) (s seen, left []string) {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			nodes := stranded(t, server, 6) // A to D, the contender, a newcomer
			if newcomerLeaves {
				deletions = append(deletions, 5)
			}
			for _, i := range deletions {
				must(t, server.Delete(nodes[i]))
			}
			stat, _ := server.Stat(path)
			s, left = seen{stat.NumChildren, stat.Cversion}, server.Children(path)
		})
		return s, left
	}
	next, nextLeft := play([]int{0, 1, 2}, false)
	second, secondLeft := play([]int{0, 2}, true)
	if next != second {
		t.Errorf("got %+v and %+v, want the same", next, second)
	}
	if slices.Equal(nextLeft, secondLeft) {
		t.Errorf("got the nodes %q twice, want others", nextLeft)
	}
}
