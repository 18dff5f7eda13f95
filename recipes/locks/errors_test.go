package locks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// Every recipe: the one that waits behind a lease of its own client gets the hint; the one that waits behind another
// client, or behind a wait of its own, and the one that tries do not.
func TestHintIsGivenBehindALeaseOfTheSameClientAlone(t *testing.T) {
	for name, lock := range map[string]func(*peer) locks.Lock{
		"mutex":           func(p *peer) locks.Lock { return p.mutex() },
		"write lock":      func(p *peer) locks.Lock { return readWrite(p).WriteLock() },
		"semaphore":       func(p *peer) locks.Lock { return semaphore(p, 1) },
		"semaphore mutex": func(p *peer) locks.Lock { return semaphoreMutex(p) },
	} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			hinted := func(what string, err error, want bool) {
				t.Helper()
				var failed *locks.AcquireError
				if !errors.As(err, &failed) || failed.OwnLease != want || strings.Contains(err.Error(), "this client") != want {
					t.Errorf("%s, %s: hint %v: %v", name, what, !want, err)
				}
			}
			p, other := newPeer(t, server), newPeer(t, server)
			held := acquire(t, lock(p))
			_, err := lock(p).TryAcquire(t.Context())
			hinted("a try", err, false)
			_, err = locks.Within(lock(p), time.Second).Acquire(t.Context())
			hinted("behind its own lease", err, true)
			_, err = locks.Within(lock(other), time.Second).Acquire(t.Context())
			hinted("behind another client's lease", err, false)

			ctx, cancel := context.WithCancel(t.Context())
			between := begin(ctx, t, lock(other))
			_, err = locks.Within(lock(other), time.Second).Acquire(t.Context())
			hinted("behind a wait of its own", err, false)
			_, err = locks.Within(lock(p), time.Second).Acquire(t.Context())
			hinted("behind another client's wait, while it holds", err, false)
			cancel()
			<-between
			release(t, held)
		})
	}
}
