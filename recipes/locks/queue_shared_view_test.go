package locks_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// Of those who come all at once, not everybody reads the names of all others.
func TestACrowdIsListedByAFew(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		const crowd = 500
		held := acquire(t, newPeer(t, server).mutex())
		p := newPeer(t, server)
		p.cable.SetLatency(oneWay)
		p.link.Requests()
		var done sync.WaitGroup
		for range crowd {
			done.Go(func() {
				wantErr(t, acquire(t, p.mutex()).Release())
			})
		}
		time.Sleep(time.Second)
		if n := p.link.Requests()[lockstest.GetChildren]; n > 60 {
			t.Errorf("%d of %d have listed the queue", n, crowd)
		}
		release(t, held)
		done.Wait()
	})
}

// None of them has to list, so none waits for a place among those that do.
func TestACrowdAtABusyLockEntersAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := busy(t, server)
		held := acquire(t, p.mutex())
		p.link.Segments()
		var line []<-chan result
		for range 100 {
			line = append(line, begin(t.Context(), t, p.mutex()))
		}
		if n := p.link.Requests()[lockstest.Create]; n < 100 {
			t.Errorf("%d of 100 have sent their creation", n)
		}
		release(t, held)
		for _, w := range line {
			release(t, soon(t, w).must(t))
		}
	})
}

// It waits for a place among those who list.
func TestACrowdThatHearsNothingObeysItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		p.link.Mute()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		var line []<-chan result
		patient, stop := context.WithCancel(t.Context())
		for range 50 {
			begin(patient, t, p.mutex())
		}
		for range 50 {
			line = append(line, begin(ctx, t, p.mutex()))
		}
		defer stop()
		for _, w := range line {
			r := soon(t, w)
			if !errors.Is(r.err, context.DeadlineExceeded) || r.at.Sub(begun) > time.Second+10*time.Millisecond {
				t.Fatalf("%v after %v", r.err, r.at.Sub(begun))
			}
		}
		stop()
		p.link.Heal()
		release(t, acquire(t, p.mutex()))
	})
}

func TestACrowdThatWaitsForAPlaceIsEndedByClose(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		p.link.Mute()
		var line []<-chan result
		for range 100 {
			line = append(line, begin(t.Context(), t, p.mutex()))
		}
		begun := time.Now()
		_ = p.Close()
		for _, w := range line {
			if r := soon(t, w); !errors.Is(r.err, framework.ErrClosed) || r.at.Sub(begun) > 2*time.Second {
				t.Fatalf("%v after %v", r.err, r.at.Sub(begun))
			}
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
	})
}
