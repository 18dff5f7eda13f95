package locks_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/journaltest"
	"github.com/gocurator/curator/recipes/locks"
)

// panics calls f, and fails the test unless f panics with what.
func panics(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if p := recover(); p != what {
			t.Errorf("recovered %v, want %q", p, what)
		}
	}()
	f()
}

// A brokenLock is a user's own.
type brokenLock struct{}

func (brokenLock) Acquire(context.Context) (*locks.Lease, error)    { panic("broken lock") }
func (brokenLock) TryAcquire(context.Context) (*locks.Lease, error) { panic("broken lock") }

func TestAMultiLockReleasesItsPartsIfOneOfItsLocksPanics(t *testing.T) {
	for name, broken := range map[string]func(p *peer) locks.Lock{
		"a lock of another package": func(*peer) locks.Lock { return brokenLock{} },
		"a trace": func(p *peer) locks.Lock {
			return locks.NewInterProcessMutex(p.Client, "/locks/b", locks.WithTrace(locks.Trace{
				AcquireStart: func(context.Context, locks.AcquireStart) context.Context { panic("broken lock") },
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				multi := locks.NewInterProcessMultiLock(p.mutex(), broken(p))
				panics(t, "broken lock", func() { _, _ = multi.Acquire(t.Context()) })
				panics(t, "broken lock", func() { _, _ = multi.TryAcquire(t.Context()) })
				synctest.Wait()
				if p.mutex().IsAcquiredInThisProcess() || len(server.Children(path)) != 0 {
					t.Errorf("the first part is still held: %q", server.Children(path))
				}
			})
		})
	}
}

// The provider is asked when the contender is in the line of its session already.
func TestAnAcquireWhoseACLProviderPanicsLeavesNothing(t *testing.T) {
	for name, lock := range map[string]func(p *peer, path string) locks.Lock{
		"mutex":     func(p *peer, path string) locks.Lock { return locks.NewInterProcessMutex(p.Client, path) },
		"semaphore": func(p *peer, path string) locks.Lock { return locks.NewInterProcessSemaphoreV2(p.Client, path, 1) },
		"retained": func(p *peer, path string) locks.Lock {
			return locks.NewInterProcessMutex(p.Client, path).Retained()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				broken := false
				p := newPeer(t, server, framework.WithACLProvider(func(path string) []zk.ACL {
					if broken && strings.Contains(path, "-") { // a node's path, not its parent's
						panic("broken provider")
					}
					return nil
				}))
				for range 20 { // so that the directory is watched
					release(t, acquire(t, lock(p, path)))
				}
				broken = true
				panics(t, "broken provider", func() { _, _ = lock(p, path).Acquire(t.Context()) })
				panics(t, "broken provider", func() { _, _ = lock(p, path).TryAcquire(t.Context()) })
				time.Sleep(2 * time.Second)
				if left := journaltest.Left(events.Events()); len(left) > 0 || locks.RetainedQueues(p.Client) != 0 || server.WatchCount() != 0 {
					t.Errorf("got %q, %d local queues and %d watches left, want nothing", left, locks.RetainedQueues(p.Client), server.WatchCount())
				}
				broken = false
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				lease, err := lock(p, path).Acquire(ctx)
				must(t, err)
				release(t, lease)
			})
		})
	}
}
