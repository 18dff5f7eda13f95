package locks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A logBook is what a client has logged, one line for each record.
type logBook struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *logBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

// waits are the records of a level about locks, without their level.
func (b *logBook) waits(level slog.Level) (records []string) {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range strings.Lines(b.all.String()) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), fmt.Sprintf("level=%s msg=\"locks: ", level)); ok {
			records = append(records, text)
		}
	}
	return records
}

func (b *logBook) option() framework.Option {
	return framework.WithLogger(slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})))
}

func TestAWaiterWarnsOnceAfterASessionTimeoutAndRepeatsAtInfoEachTimeItsWaitHasDoubled(t *testing.T) {
	for name, c := range map[string]struct {
		lock func(p *peer) locks.Lock
		// crowd is how many more contenders of the same client come before the waiter.
		crowd int
		want  string // the node, the predecessor, how many are ahead, and whether that is the same client
	}{
		"mutex":  {lock: func(p *peer) locks.Lock { return p.mutex() }, want: "node=own predecessor=held ahead=1 ownClient=false"},
		"writer": {lock: func(p *peer) locks.Lock { return locks.NewInterProcessReadWriteLock(p.Client, path).WriteLock() }, want: "node=own predecessor=held ahead=1 ownClient=false"},
		"the first at a semaphore": {
			lock: func(p *peer) locks.Lock { return locks.NewInterProcessSemaphoreV2(p.Client, path, 1) },
			want: "node=own ahead=1 ownClient=false",
		},
		"the second at a semaphore": {
			lock:  func(p *peer) locks.Lock { return locks.NewInterProcessSemaphoreV2(p.Client, path, 1) },
			crowd: 1, want: "node=own predecessor=held ahead=1 ownClient=true",
		},
		"behind another goroutine, of a retained lock": {
			lock:  func(p *peer) locks.Lock { return p.mutex().Retained() },
			crowd: 1, want: "ahead=1 ownClient=true local=true",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				other := newPeer(t, server)
				held := acquire(t, c.lock(other))
				var book logBook
				p := newPeer(t, server, book.option())
				var before []<-chan result
				for range c.crowd {
					before = append(before, begin(t.Context(), t, c.lock(p)))
					time.Sleep(time.Second)
				}
				begun := len(book.waits(slog.LevelDebug))
				waiter := begin(t.Context(), t, c.lock(p))
				if got := book.waits(slog.LevelDebug)[begun:]; len(got) != 1 || !strings.HasPrefix(got[0], `waiting" path=`+path+" ") {
					t.Errorf("at Debug it logs %q when it begins to wait", got)
				}
				time.Sleep(sessionTimeout - time.Millisecond)
				warned := book.waits(slog.LevelWarn)
				if len(warned) != c.crowd {
					t.Errorf("a millisecond before the session timeout has passed it has logged %q", warned)
				}
				time.Sleep(time.Millisecond)
				got := book.waits(slog.LevelWarn)
				got = got[min(c.crowd, len(got)):]
				want := fmt.Sprintf(`still waiting after the session timeout" path=%s %s waited=%v`, path, c.want, sessionTimeout)
				if len(got) != 1 || placeless(got[0]) != want {
					t.Errorf("after the session timeout: got %q, want %q", got, want)
				}
				time.Sleep(100 * sessionTimeout)
				if all := book.waits(slog.LevelWarn); len(all) != 1+c.crowd {
					t.Errorf("got warnings %q, want one of each waiter", all)
				}
				repeated := book.waits(slog.LevelInfo)
				for doubled := 2 * sessionTimeout; doubled < 100*sessionTimeout; doubled *= 2 {
					want := fmt.Sprintf(`still waiting" path=%s %s waited=%v`, path, c.want, doubled)
					at := slices.IndexFunc(repeated, func(record string) bool { return placeless(record) == want })
					if at < 0 {
						t.Errorf("got %q, want %q", repeated, want)
						continue
					}
					repeated = slices.Delete(repeated, at, at+1)
				}
				if want := c.crowd * 6; len(repeated) != want {
					t.Errorf("got %q further, want %d of the waiters before", repeated, want)
				}
				release(t, held)
				for _, waiting := range append(before, waiter) {
					release(t, soon(t, waiting).must(t))
				}
			})
		})
	}
}

// The node ahead may be the same client's and only wait itself. If that client holds the lock, the waiter may be its
// holder.
func TestAWaitForALeaseOfTheSameClientIsLoggedAsSuchAndOneBehindAnotherWaiterIsNot(t *testing.T) {
	for name, lock := range map[string]func(p *peer) locks.Lock{
		"mutex":         func(p *peer) locks.Lock { return p.mutex() },
		"writer":        func(p *peer) locks.Lock { return locks.NewInterProcessReadWriteLock(p.Client, path).WriteLock() },
		"semaphore":     func(p *peer) locks.Lock { return locks.NewInterProcessSemaphoreV2(p.Client, path, 1) },
		"retained lock": func(p *peer) locks.Lock { return p.mutex().Retained() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				var book logBook
				p := newPeer(t, server, book.option())
				held := acquire(t, lock(p))
				var waiting []<-chan result
				for range 2 {
					waiting = append(waiting, begin(t.Context(), t, lock(p)))
					time.Sleep(time.Second)
				}
				time.Sleep(sessionTimeout)
				var got []bool
				for _, record := range append(book.waits(slog.LevelDebug), book.waits(slog.LevelWarn)...) {
					if strings.Contains(record, "waiting") {
						got = append(got, strings.Contains(record, " ownLease=true"))
					}
				}
				if want := []bool{true, false, true, false}; !slices.Equal(got, want) {
					t.Errorf("got ownLease %v of the two waiters at Debug and at Warn, want %v", got, want)
				}
				release(t, held)
				for _, w := range waiting {
					release(t, soon(t, w).must(t))
				}
			})
		})
	}
}

// placeless is a record with the names of nodes, which have GUIDs, replaced.
func placeless(record string) string {
	fields := strings.Split(record, " ")
	for i, field := range fields {
		switch {
		case strings.HasPrefix(field, "node=_c_"):
			fields[i] = "node=own"
		case strings.HasPrefix(field, "predecessor=_c_"):
			fields[i] = "predecessor=held"
		}
	}
	return strings.Join(fields, " ")
}

func TestAShortWaitIsNoWarning(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		var book logBook
		p := newPeer(t, server, book.option())
		waiter := begin(t.Context(), t, p.mutex())
		time.Sleep(sessionTimeout - time.Millisecond)
		release(t, held)
		lease := soon(t, waiter).must(t)
		time.Sleep(10 * sessionTimeout)
		if warned := book.waits(slog.LevelWarn); len(warned) != 0 {
			t.Errorf("got %q", warned)
		}
		release(t, lease)
	})
}

// drop forgets what was logged.
func (b *logBook) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all.Reset()
}

func TestTheLogClosesAWaitAtTheLevelAtWhichItSpokeLast(t *testing.T) {
	for name, wrap := range map[string]func(locks.Lock) locks.Lock{
		"at the servers":  func(lock locks.Lock) locks.Lock { return lock },
		"in this process": func(lock locks.Lock) locks.Lock { return retaining(lock) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				var book logBook
				p := newPeer(t, server, book.option())
				for _, lasts := range []time.Duration{time.Second, 3 * sessionTimeout} {
					held := acquire(t, wrap(p.mutex()))
					ctx, cancel := context.WithCancel(t.Context())
					patient, impatient := begin(t.Context(), t, wrap(p.mutex())), begin(ctx, t, wrap(p.mutex()))
					time.Sleep(lasts)
					book.waits(slog.LevelDebug) // returns when all is written
					book.drop()
					cancel()
					_ = soon(t, impatient)
					level := slog.LevelDebug
					if lasts > sessionTimeout {
						level = slog.LevelInfo
					}
					if got := book.waits(level); len(got) != 1 || !strings.HasPrefix(got[0], `gave up" path=`+path) ||
						!strings.Contains(got[0], " ahead=2 ") || !strings.Contains(got[0], fmt.Sprintf(" waited=%v error=", lasts)) {
						t.Errorf("a waiter gives up after %v: got %q at %v, want one line", lasts, got, level)
					}
					book.drop()
					release(t, held)
					lease := soon(t, patient).must(t)
					want := fmt.Sprintf(`acquired" path=%s node=own token=%d waited=%v`, path, lease.FencingToken(), lasts)
					if got := book.waits(level); !slices.ContainsFunc(got, func(record string) bool { return placeless(record) == want }) {
						t.Errorf("a waiter acquires after %v: got %q at %v, want %q", lasts, got, level, want)
					}
					release(t, lease)
				}
			})
		})
	}
}

func TestAWaitThatGoesOnInAnotherSessionIsClosedAtInfoOnceItHasWarned(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		var book logBook
		p := newPeer(t, server, book.option())
		waiter := begin(t.Context(), t, p.mutex())
		time.Sleep(sessionTimeout)
		if got := book.waits(slog.LevelWarn); len(got) != 1 {
			t.Errorf("got warnings %q, want one", got)
		}
		s, err := p.Session(t.Context())
		must(t, err)
		expire(server, s.ID())
		time.Sleep(time.Second)
		book.waits(slog.LevelInfo)
		book.drop()
		release(t, held)
		lease := soon(t, waiter).must(t)
		if got := book.waits(slog.LevelInfo); len(got) != 1 || !strings.HasPrefix(got[0], `acquired" path=`+path) {
			t.Errorf("got %q, want one line: acquired", got)
		}
		release(t, lease)
	})
}

func TestATryAndAReentryAreNoWaitToClose(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var book logBook
		p := newPeer(t, server, book.option())
		lease := acquire(t, p.mutex())
		book.waits(slog.LevelDebug)
		book.drop()
		inner := acquireIn(inside(t, lease), t, p.mutex())
		if _, err := p.mutex().TryAcquire(t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("got %v, want %v", err, locks.ErrNotAcquired)
		}
		release(t, inner)
		if got := book.waits(slog.LevelDebug); len(got) != 0 {
			t.Errorf("got %q, want nothing", got)
		}
		release(t, lease)
	})
}

// warnedInThisProcess lets a waiter warn while its own client has the retained lock. Then the lock is ahead's, of
// another client, and the waiter goes on at the servers.
func warnedInThisProcess(t *testing.T, server *zktest.Server, book *logBook) (ahead, waiter <-chan result) {
	t.Helper()
	p, other := newPeer(t, server, book.option()), newPeer(t, server)
	held := acquire(t, p.mutex().Retained())
	ahead = begin(t.Context(), t, other.mutex())
	waiter = begin(t.Context(), t, p.mutex().Retained())
	time.Sleep(sessionTimeout + time.Second)
	release(t, held)
	return ahead, waiter
}

// The waiter comes to the front of its client's queue, and waits on for another client, at the servers.
func TestAWaitThatGoesOnAtTheServersWarnsOnceAndIsClosedAtInfo(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var book logBook
		ahead, waiter := warnedInThisProcess(t, server, &book)
		lease := soon(t, ahead).must(t)
		time.Sleep(sessionTimeout)
		if got := book.waits(slog.LevelWarn); len(got) != 1 || !strings.Contains(got[0], " local=true ownLease=true waited=10s") {
			t.Errorf("got warnings %q, want one, of the wait in this process", got)
		}
		want := fmt.Sprintf(`still waiting" path=%s node=own predecessor=held ahead=1 ownClient=false waited=%v`, path, 2*sessionTimeout)
		if got := book.waits(slog.LevelInfo); len(got) != 1 || placeless(got[0]) != want {
			t.Errorf("got %q, want %q", got, want)
		}
		book.drop()
		release(t, lease)
		release(t, soon(t, waiter).must(t))
		if got := book.waits(slog.LevelInfo); len(got) != 1 || !strings.HasPrefix(got[0], `acquired" path=`+path) {
			t.Errorf("got %q, want one line: acquired", got)
		}
	})
}

// The wait has warned in this process, and is over at the servers before it is late again.
func TestAWaitThatWarnedInThisProcessIsClosedAtInfoAtTheServers(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var book logBook
		ahead, waiter := warnedInThisProcess(t, server, &book)
		release(t, soon(t, ahead).must(t))
		release(t, soon(t, waiter).must(t))
		if got := book.waits(slog.LevelInfo); len(got) != 1 || !strings.HasPrefix(got[0], `acquired" path=`+path) {
			t.Errorf("got %q, want one line: acquired", got)
		}
	})
}
