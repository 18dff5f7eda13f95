package locks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestAReleasedLeaseSaysWhichItIs(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, p.mutex())
		ctx := lease.Context(t.Context())
		release(t, lease)
		want := fmt.Sprintf("locks: lease on %q (%s) was released", path, lease.NodeName())
		for name, err := range map[string]error{
			"a second Release": lease.Release(), "Err": lease.Err(), "the context's cause": context.Cause(ctx),
		} {
			wantErr(t, err, locks.ErrReleased)
			if err == nil || err.Error() != want {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
		}
		multi := acquire(t, locks.NewInterProcessMultiLockWithPaths(p.Client, []string{"/a", "/b"}))
		release(t, multi)
		err := multi.Release()
		wantErr(t, err, locks.ErrReleased)
		if !strings.Contains(err.Error(), `lease on "/a"`) || !strings.Contains(err.Error(), `lease on "/b"`) {
			t.Errorf("got %v, want both parts named", err)
		}
	})
}

func TestErrorsOfMisuseAreOneLine(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		for want, lock := range map[string]locks.Lock{
			`locks: acquire "locks": `: locks.NewInterProcessMutex(nil, "locks", nil).Retained(locks.RetainHandOvers(-1)),
			`locks: acquire "/s": the limit of a semaphore must be positive and at most 2³¹-1, is -1`: locks.NewInterProcessSemaphoreV2(p.Client, "/s", -1),
			"locks: a lock of a multi-lock is nil; locks: a lock of a multi-lock is nil":              locks.NewInterProcessMultiLock(nil, nil),
		} {
			_, err := lock.Acquire(t.Context())
			if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	})
}

func TestALostErrorNamesTheNodeAndTheSession(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, p.mutex())
		s, err := p.Session(t.Context())
		must(t, err)
		must(t, server.Delete(path+"/"+lease.NodeName()))
		<-lease.Done()
		want := fmt.Sprintf("locks: lease on %q lost: node removed by hand (node %s, session %#x)", path, lease.NodeName(), s.ID())
		if got := fmt.Sprint(lease.Err()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
