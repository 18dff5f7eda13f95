package locks_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A slowCall blocks the first call of the user's function once it is armed, until it is ended, and uses the client
// before. That would wait for ever if the caller held a lock of the client, and the bubble's time would stand still. So
// patience, which comes from outside of the bubble, ends it.
type slowCall struct {
	armed, entered atomic.Bool
	use            func()
	end            chan struct{}
	patience       <-chan struct{}
}

func (s *slowCall) call() {
	if !s.armed.CompareAndSwap(true, false) {
		return
	}
	used := make(chan struct{})
	go func() {
		defer close(used)
		s.use()
	}()
	select {
	case <-used:
		s.entered.Store(true)
		<-s.end
	case <-s.patience:
	}
}

// AcquireStart of a trace and the ACL provider run on the goroutine of the caller of Acquire. While one of them blocks,
// other contenders of the client for the same lock are admitted, leases are renewed and end in time, and Close returns.
func TestUserCodeOnTheCallersGoroutineHoldsUpItsCallerAlone(t *testing.T) {
	recipes := map[string]func(c *framework.Client, opts ...locks.Option) locks.Lock{
		"mutex": func(c *framework.Client, opts ...locks.Option) locks.Lock {
			return locks.NewInterProcessMutex(c, path, opts...)
		},
		"writer": func(c *framework.Client, opts ...locks.Option) locks.Lock {
			return locks.NewInterProcessReadWriteLock(c, path, opts...).WriteLock()
		},
		"semaphore": func(c *framework.Client, opts ...locks.Option) locks.Lock {
			return locks.NewInterProcessSemaphoreV2(c, path, 1, opts...)
		},
	}
	for _, what := range []string{"AcquireStart", "ACL of a node", "ACL of a parent"} {
		for name, lock := range recipes {
			t.Run(what+"/"+name, func(t *testing.T) {
				patience := make(chan struct{})
				defer time.AfterFunc(4*time.Minute, func() { close(patience) }).Stop()
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					blockCaller(t, server, what, lock, &slowCall{end: make(chan struct{}), patience: patience})
				})
			})
		}
	}
}

func blockCaller(
	t *testing.T, server *zktest.Server, what string, lock func(*framework.Client, ...locks.Option) locks.Lock, slow *slowCall,
) {
	t.Helper()
	p := newPeer(t, server, framework.WithACLProvider(func(path string) []zk.ACL {
		isNode := strings.Contains(path, "-") || strings.Contains(path, "__WRIT__")
		if what == "ACL of a node" && isNode || what == "ACL of a parent" && !isNode {
			slow.call()
		}
		return nil
	}))
	session, err := p.Session(t.Context())
	must(t, err)
	held := acquire(t, locks.NewInterProcessMutex(p.Client, "/held"))
	slow.use = func() {
		_, _ = p.Exists(t.Context(), "/")
		_, _, _ = p.State(), session.Err(), held.Err()
		_ = session.ValidUntil()
		if lease, err := lock(p.Client).Acquire(t.Context()); err == nil {
			_ = lease.Release()
		}
	}
	slow.armed.Store(true)
	blocked := begin(t.Context(), t, lock(p.Client, locks.WithTrace(locks.Trace{
		AcquireStart: func(ctx context.Context, _ locks.AcquireStart) context.Context {
			if what == "AcquireStart" {
				slow.call()
			}
			return ctx
		},
	})))
	if !slow.entered.Load() {
		t.Fatal("got no end of what the user's function does with the client, is the function called under a lock?")
	}

	begun := time.Now()
	first := acquire(t, lock(p.Client))
	second := begin(t.Context(), t, lock(p.Client))
	isWaiting(t, second)
	release(t, first)
	lease := soon(t, second).must(t)
	if took := time.Since(begun); took != 0 {
		t.Errorf("two acquires and a release of the same lock took %v", took)
	}
	time.Sleep(10 * sessionTimeout)
	if held.Err() != nil || lease.Err() != nil {
		t.Errorf("leases are not renewed: %v, %v", held.Err(), lease.Err())
	}
	p.link.Mute()
	<-lease.Done()
	<-held.Done()
	if late := max(time.Since(held.ValidUntil()), time.Since(lease.ValidUntil())); late != 0 {
		t.Errorf("the leases ended %v after their time", late)
	}
	begun = time.Now()
	_ = p.Close()
	if took := time.Since(begun); took > time.Second {
		t.Errorf("Close took %v", took)
	}
	isWaiting(t, blocked)
	close(slow.end)
	synctest.Wait()
	if r := soon(t, blocked); !errors.Is(r.err, framework.ErrClosed) {
		t.Errorf("the blocked acquire ended with %v, %v, want %v", r.lease, r.err, framework.ErrClosed)
	}
}
