package locks_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// One call returns who holds and who waits.
func TestParticipantsSayWhoHolds(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		rw := func() *locks.InterProcessReadWriteLock {
			return locks.NewInterProcessReadWriteLock(newPeer(t, server).Client, path)
		}
		first, second := acquire(t, rw().ReadLock()), acquire(t, rw().ReadLock())
		writer := begin(t.Context(), t, rw().WriteLock())
		isWaiting(t, writer)
		late := begin(t.Context(), t, rw().ReadLock())
		isWaiting(t, late)
		all, err := locks.NewInterProcessMutex(p.Client, path).Participants(t.Context())
		if err != nil || len(all) != 4 {
			t.Fatalf("got %v, %v", all, err)
		}
		for i, want := range []struct{ shared, holds bool }{{true, true}, {true, true}, {false, false}, {true, false}} {
			if all[i].Shared != want.shared || all[i].Holds != want.holds {
				t.Errorf("participant %d: got shared %v, holds %v, want %v", i, all[i].Shared, all[i].Holds, want)
			}
		}
		writers, err := rw().WriteLock().Participants(t.Context())
		if err != nil || len(writers) != 1 || writers[0].Holds {
			t.Errorf("writers: got %v, %v", writers, err)
		}
		release(t, first)
		release(t, second)
		release(t, soon(t, writer).must(t))
		release(t, soon(t, late).must(t))
	})
}

// The session ends in the middle of a long queue.
func TestParticipantsAreReadInTheNextSessionWhenOneIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		must(t, errors.Join(server.Create("/locks", nil), server.Create(path, nil)))
		const count = 100
		for i := range count {
			must(t, server.Create(fmt.Sprintf("%s/lock-%010d", path, i), fmt.Append(nil, i)))
		}
		p := newPeer(t, server)
		s, err := p.Session(t.Context())
		must(t, err)
		p.cable.SetLatency(time.Millisecond) // answers take time, so the session ends before the last one is read
		var read atomic.Int32
		defer server.Observe(func(r zktest.Request) {
			if r.Op == zktest.OpGetData && read.Add(1) == count/2 {
				go server.ExpireSession(s.ID())
			}
		})()
		all, err := p.mutex().Participants(t.Context())
		if err != nil || len(all) != count {
			t.Fatalf("got %d participants, error %v, want %d", len(all), err, count)
		}
		for i, one := range all {
			if string(one.Data) != fmt.Sprint(i) {
				t.Errorf("participant %d: got data %q, want its number", i, one.Data)
			}
		}
		if s.Err() == nil {
			t.Error("got the session alive, want it lost in the middle")
		}
	})
}
