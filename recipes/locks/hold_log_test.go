package locks_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestALostHoldIsLoggedOnceAtWarnWithItsReason(t *testing.T) {
	plain := func(lock locks.Lock) locks.Lock { return lock }
	for name, c := range map[string]struct {
		wrap   func(locks.Lock) locks.Lock
		lose   func(t *testing.T, server *zktest.Server, p *peer, lease *locks.Lease)
		reason string
		cause  string
	}{
		"whose node is deleted": {wrap: plain, reason: `"node removed by hand"`, cause: "the node was removed, by another session or by hand", lose: func(t *testing.T, server *zktest.Server, _ *peer, lease *locks.Lease) {
			wantErr(t, server.Delete(path+"/"+lease.NodeName()))
		}},
		"whose client is cut off": {wrap: plain, reason: `"session not renewed in time"`, cause: "zktest:2181 stopped answering 4.9s before", lose: func(_ *testing.T, server *zktest.Server, _ *peer, _ *locks.Lease) {
			server.Freeze()
			time.Sleep(sessionTimeout)
			server.Unfreeze()
		}},
		"whose client is closed": {wrap: plain, reason: `"client closed"`, cause: "this client was closed", lose: func(_ *testing.T, _ *zktest.Server, p *peer, _ *locks.Lease) {
			_ = p.Close()
		}},
		"over a retained node": {
			wrap:   func(lock locks.Lock) locks.Lock { return retaining(lock) },
			reason: `"node removed by hand"`, cause: "the node was removed, by another session or by hand", lose: func(t *testing.T, server *zktest.Server, _ *peer, lease *locks.Lease) {
				wantErr(t, server.Delete(path+"/"+lease.NodeName()))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				var book logBook
				p := newPeer(t, server, book.option())
				s, err := p.Session(t.Context())
				must(t, err)
				lock := c.wrap(p.mutex())
				lease := acquire(t, lock)
				_ = acquireIn(inside(t, lease), t, lock) // another lease of the same hold
				held := sessionTimeout + time.Second     // not a moment at which a renewal is under way
				time.Sleep(held)
				ended := time.Now()
				if name == "whose client is cut off" {
					held, ended = time.Until(lease.ValidUntil())+held, lease.ValidUntil()
				}
				c.lose(t, server, p, lease)
				<-lease.Done()
				got := book.waits(slog.LevelWarn)
				want := fmt.Sprintf(`lease lost" path=%s node=own session=%#x held=%v ended=%s reason=%s cause=%q`,
					path, s.ID(), held.Round(time.Millisecond), ended.Format("2006-01-02T15:04:05.000Z07:00"), c.reason, c.cause)
				if len(got) != 1 || placeless(strings.Join(got, "")) != want {
					t.Errorf("got %q, want %q alone", got, want)
				}
			})
		})
	}
}

// Nothing of the process held the lock, so no work was cut off.
func TestTheLossOfAnIdleRetainedNodeIsNotLogged(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var book logBook
		p := newPeer(t, server, book.option())
		lock := p.mutex().Retained(locks.RetainIdle(time.Hour))
		var node string
		for range 4 { // the node stays after grants in a row that were one's own
			lease := acquire(t, lock)
			node = lease.NodeName()
			release(t, lease)
		}
		if got := server.Children(path); len(got) != 1 {
			t.Fatalf("got nodes %q, want one retained", got)
		}
		must(t, server.Delete(path+"/"+node))
		time.Sleep(time.Second)
		if got := book.waits(slog.LevelWarn); len(got) != 0 {
			t.Errorf("got %q, want nothing", got)
		}
	})
}

func TestAReleaseIsLoggedAtDebugWithWhatBecameOfTheNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var book logBook
		p := newPeer(t, server, book.option())
		released := func(want string) {
			t.Helper()
			var got string
			for _, record := range book.waits(slog.LevelDebug) {
				if text, found := strings.CutPrefix(placeless(record), `released" path=`+path+" node=own "); found {
					got = text // the last
				}
			}
			book.drop()
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		lease := acquire(t, p.mutex())
		time.Sleep(2 * time.Second)
		release(t, lease)
		released("held=2s")
		lock := retained(p)
		lease = acquire(t, lock)
		next := begin(t.Context(), t, lock)
		time.Sleep(50 * time.Millisecond)
		release(t, lease)
		released("held=50ms handedOver=true")
		release(t, soon(t, next).must(t))
		idling(t, p)
		released("held=0s retained=true")
	})
}
