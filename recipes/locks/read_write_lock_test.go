package locks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

func readWrite(p *peer, opts ...locks.Option) *locks.InterProcessReadWriteLock {
	return locks.NewInterProcessReadWriteLock(p.Client, path, opts...)
}

// settle lets everything happen that happens by itself within a moment.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// nodes are the children of a directory whose names contain marker.
func nodes(server *zktest.Server, dir, marker string) []string {
	var some []string
	for _, name := range server.Children(dir) {
		if strings.Contains(name, marker) {
			some = append(some, name)
		}
	}
	return some
}

func wantNodes(t *testing.T, server *zktest.Server, dir, marker string, want int) {
	t.Helper()
	settle()
	if got := nodes(server, dir, marker); len(got) != want {
		t.Errorf("there are %v, want %d of %s", got, want, marker)
	}
}

func wantErr(t testing.TB, err error, want ...error) {
	t.Helper()
	if len(want) == 0 && err != nil {
		t.Errorf("got error %v, want none", err)
	}
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Errorf("got error %v, want %v", err, w)
		}
	}
}

func TestReadersShareAndWritersDoNot(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		first, second, third := newPeer(t, server), newPeer(t, server), newPeer(t, server)
		readers := []*locks.Lease{acquire(t, readWrite(first).ReadLock()), acquire(t, readWrite(second).ReadLock())}
		writer := begin(t.Context(), t, readWrite(third).WriteLock())
		isWaiting(t, writer)
		release(t, readers[0])
		isWaiting(t, writer)
		release(t, readers[1])
		held := (<-writer).must(t)
		for _, p := range []*peer{first, second, third} {
			for _, side := range []locks.Lock{readWrite(p).ReadLock(), readWrite(p).WriteLock()} {
				_, err := side.TryAcquire(t.Context())
				wantErr(t, err, locks.ErrNotAcquired)
			}
		}
		release(t, held)
	})
}

// A later contender does not overtake: a reader does not join readers that are in, if a writer waits between them.
func TestBothKindsAreLetInInTheOrderInWhichTheyCame(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		rw := readWrite(p)
		held := acquire(t, rw.ReadLock())
		var line []<-chan result
		for _, side := range []locks.Lock{rw.WriteLock(), rw.ReadLock(), rw.ReadLock(), rw.WriteLock(), rw.ReadLock()} {
			line = append(line, begin(t.Context(), t, side))
		}
		for _, r := range line {
			isWaiting(t, r)
		}
		release(t, held)
		held = (<-line[0]).must(t)
		isWaiting(t, line[1])
		isWaiting(t, line[2])
		release(t, held)
		held, other := (<-line[1]).must(t), (<-line[2]).must(t)
		isWaiting(t, line[3])
		release(t, held)
		isWaiting(t, line[3])
		release(t, other)
		held = (<-line[3]).must(t)
		isWaiting(t, line[4])
		release(t, held)
		release(t, (<-line[4]).must(t))
	})
}

// For an hour of virtual time there is always a reader, and always another one on its way: a writer gets in all the
// same.
func TestStreamOfReadersDoesNotStarveAWriterNorWritersAReader(t *testing.T) {
	for _, test := range []struct{ name, stream string }{{"writer", "read"}, {"reader", "write"}} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				var stream, single locks.Lock = readWrite(p).ReadLock(), readWrite(p).WriteLock()
				if test.stream == "write" {
					stream, single = single, stream
				}
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan struct{}, 3)
				for i := range 3 {
					go func() {
						defer func() { ended <- struct{}{} }()
						time.Sleep(time.Duration(i) * time.Second)
						for ctx.Err() == nil {
							if lease, err := stream.Acquire(ctx); err == nil {
								time.Sleep(3 * time.Second)
								_ = lease.Release()
							}
						}
					}()
				}
				time.Sleep(10 * time.Second)
				for range 5 {
					begun := time.Now()
					release(t, acquire(t, single))
					if waited := time.Since(begun); waited > 10*time.Second {
						t.Errorf("it waited %v", waited)
					}
				}
				stop()
				for range 3 {
					<-ended
				}
			})
		})
	}
}

// With two writers before it, a reader waits for the second: it is not woken by the first.
func TestReaderWaitsForTheNearestEarlierWriter(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		writers := newPeer(t, server)
		held := acquire(t, readWrite(writers).WriteLock())
		second := begin(t.Context(), t, readWrite(writers).WriteLock())
		p := newPeer(t, server)
		reader := begin(t.Context(), t, readWrite(p).ReadLock())
		other := begin(t.Context(), t, readWrite(p).ReadLock()) // another reader stands in no one's way
		settle()
		p.link.Requests()
		release(t, held)
		held = (<-second).must(t)
		settle()
		if sent := p.link.Requests(); len(sent) > 0 {
			t.Errorf("the readers were woken by the wrong writer, and sent %v", sent)
		}
		release(t, held)
		begun := time.Now()
		release(t, (<-reader).must(t))
		release(t, (<-other).must(t))
		if time.Since(begun) > 0 {
			t.Errorf("got %v between two readers' admissions, want them together", time.Since(begun))
		}
	})
}

// A writer waits for the last reader before it, and is woken once if they leave in the order in which they came.
func TestWriterBehindReadersWakesOnceIfTheyLeaveInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		readers := newPeer(t, server)
		var held []*locks.Lease
		for range 5 {
			held = append(held, acquire(t, readWrite(readers).ReadLock()))
		}
		p := newPeer(t, server)
		writer := begin(t.Context(), t, readWrite(p).WriteLock())
		settle()
		p.link.Requests()
		for _, lease := range held {
			isWaiting(t, writer)
			release(t, lease)
			settle()
		}
		release(t, (<-writer).must(t))
		if got := p.link.Requests()[lockstest.GetChildren]; got != 1 {
			t.Errorf("it listed %d times", got)
		}
	})
}

func TestUpgradeIsRefusedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		read := acquire(t, readWrite(p).ReadLock())
		ctx := read.Context(t.Context())
		settle()
		p.link.Requests()
		for _, acquire := range []func(context.Context) (*locks.Lease, error){
			readWrite(p).WriteLock().Acquire, readWrite(p).WriteLock().TryAcquire,
		} {
			begun := time.Now()
			_, err := acquire(ctx)
			wantErr(t, err, locks.ErrUpgrade)
			if time.Since(begun) > 0 || len(p.link.Requests()) > 0 {
				t.Errorf("got a refusal after %v and requests %v, want neither time nor requests",
					time.Since(begun), p.link.Requests())
			}
		}
		if read.Err() != nil {
			t.Errorf("the read lease ended: %v", read.Err())
		}
		wantNodes(t, server, path, "__WRIT__", 0)
	})
}

// Curator: testThatDowngradingRespectsThreads.
func TestStrangerDoesNotReadBesideAWriterOfTheSameClient(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		write := acquire(t, readWrite(p).WriteLock())
		for _, ctx := range []context.Context{t.Context(), locks.WithoutLease(write.Context(t.Context()))} {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			_, err := readWrite(p).ReadLock().Acquire(ctx)
			cancel()
			wantErr(t, err, context.DeadlineExceeded)
			var failure *locks.AcquireError
			if !errors.As(err, &failure) || !failure.OwnClient || failure.Predecessor != write.NodeName() {
				t.Errorf("it does not say whom it waited for: %v", err)
			}
		}
	})
}

// Curator: testGetParticipantNodes.
func TestParticipantsAreListedByKind(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		const readers, writers = 20, 8
		p := newPeer(t, server)
		rw := readWrite(p)
		var held []*locks.Lease
		for range readers {
			held = append(held, acquire(t, rw.ReadLock()))
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range writers {
			begin(ctx, t, rw.WriteLock())
		}
		for _, test := range []struct {
			participants func(context.Context) ([]locks.Participant, error)
			marker       string
			want         int
		}{{rw.ReadLock().Participants, "__READ__", readers}, {rw.WriteLock().Participants, "__WRIT__", writers}} {
			got, err := test.participants(t.Context())
			if err != nil || len(got) != test.want {
				t.Errorf("%d %s, %v; want %d", len(got), test.marker, err, test.want)
			}
			for i, one := range got {
				if !strings.Contains(one.Path, test.marker) || i > 0 && one.Token <= got[i-1].Token {
					t.Errorf("%+v is not in its place", one)
				}
			}
		}
		if got, _ := rw.ReadLock().Participants(t.Context()); got[0].Token != held[0].FencingToken() {
			t.Errorf("the first reader has token %d, not %d", got[0].Token, held[0].FencingToken())
		}
		cancel()
	})
}

// Curator: testSetNodeData.
func TestLockDataStandsInTheNodesOfBothKinds(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		data := []byte("mine")
		rw := readWrite(p, locks.WithLockData(data))
		copy(data, "....")
		write := acquire(t, rw.WriteLock())
		wantNodes(t, server, path, "", 1)
		read := acquireIn(write.Context(t.Context()), t, rw.ReadLock())
		release(t, write)
		for _, lease := range []*locks.Lease{read, acquire(t, rw.ReadLock())} {
			if got, err := lease.Data(t.Context()); err != nil || !bytes.Equal(got, []byte("mine")) {
				t.Errorf("%s has %q, %v", lease.NodeName(), got, err)
			}
		}
	})
}

func TestEachSideTellsWhetherItIsHeldAndByWhom(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		rw := readWrite(p)
		check := func(when string, ctx context.Context, write, read bool) {
			t.Helper()
			again := readWrite(p) // another object is the same lock
			if got := again.WriteLock().IsOwnedBy(ctx); got != write {
				t.Errorf("%s: owns write: %v", when, got)
			}
			if got := again.ReadLock().IsOwnedBy(ctx); got != read {
				t.Errorf("%s: owns read: %v", when, got)
			}
			if rw.WriteLock().IsAcquiredInThisProcess() != write || rw.ReadLock().IsAcquiredInThisProcess() != read {
				t.Errorf("%s: acquired in this process is wrong", when)
			}
			strangers := readWrite(other)
			if strangers.WriteLock().IsAcquiredInThisProcess() || strangers.ReadLock().IsOwnedBy(ctx) {
				t.Errorf("%s: another client has it, too", when)
			}
		}
		check("no holder", t.Context(), false, false)
		write := acquire(t, rw.WriteLock())
		inWrite := context.WithoutCancel(write.Context(t.Context()))
		check("writer", inWrite, true, false)
		read := acquireIn(inWrite, t, rw.ReadLock())
		inBoth := context.WithoutCancel(read.Context(inWrite))
		check("both", inBoth, true, true)
		release(t, write)
		check("reader", inBoth, false, true)
		release(t, read)
		check("no holder again", inBoth, false, false)
	})
}

// kazoo's readers, whose nodes are called <GUID>__rlock__<number>, are readers here: they keep writers out, and no
// readers.
func TestReadersOfKazooAreReaders(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := warm(t, server)
		theirs := path + "/0123456789abcdef0123456789abcdef__rlock__0000000000"
		must(t, server.Create(theirs, nil))
		server.SetCreateCounter(path, 1)
		release(t, acquire(t, readWrite(p).ReadLock()))
		writer := begin(t.Context(), t, readWrite(p).WriteLock())
		isWaiting(t, writer)
		must(t, server.Delete(theirs))
		release(t, (<-writer).must(t))
	})
}

// Curator: testBasic. 8 sessions, one operation in ten writes.
func TestWriterIsAloneAndReadersAreNot(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var in crowd
		done := make(chan error, 8)
		for i := range 8 {
			p := newPeer(t, server)
			go func() {
				done <- func() error {
					for n := range 100 {
						writes := (n+i)%10 == 0
						var lock locks.Lock = readWrite(p).ReadLock()
						if writes {
							lock = readWrite(p).WriteLock()
						}
						err := locks.Do(t.Context(), lock, func(context.Context) error { return in.visit(writes) })
						if err != nil {
							return err
						}
					}
					return nil
				}()
			}()
		}
		for range 8 {
			wantErr(t, <-done)
		}
		if in.most < 2 {
			t.Errorf("got at most %d readers at a time, want some together", in.most)
		}
	})
}

// visit is in the protected place for a moment.
func (c *crowd) visit(writes bool) error {
	c.mu.Lock()
	if writes {
		c.writers++
	} else {
		c.readers++
		c.most = max(c.most, c.readers)
	}
	readers, writers := c.readers, c.writers
	c.mu.Unlock()
	time.Sleep(time.Millisecond)
	c.mu.Lock()
	defer c.mu.Unlock()
	if writes {
		c.writers--
	} else {
		c.readers--
	}
	if writers > 1 || writers == 1 && readers > 0 {
		return fmt.Errorf("%d writers and %d readers are in", writers, readers)
	}
	return nil
}

// A crowd counts who is in the protected place.
type crowd struct {
	mu                     sync.Mutex
	readers, writers, most int
}
