package leader_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// The listener is busy while the latch gains and loses the leadership many times.
func TestSlowListenerHearsEachChange(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		l := start(t, newPeer(t, server).latch())
		var heard []*locks.Lease
		l.OnChange(func(term *locks.Lease) {
			time.Sleep(time.Minute)
			heard = append(heard, term)
		})
		const terms = 5
		var want []*locks.Lease
		for range terms {
			term := await(t, l)
			want = append(want, term, nil)
			wantErr(t, term.Release(), nil)
			synctest.Wait()
		}
		want = append(want, await(t, l), nil)
		begun := time.Now()
		wantErr(t, l.Close(), nil)
		if took := time.Since(begun); took != 0 {
			t.Errorf("Close waits %v for the listener", took)
		}
		time.Sleep(time.Hour)
		if len(heard) != len(want) {
			t.Fatalf("heard %d changes, want %d", len(heard), len(want))
		}
		for i := range want {
			if heard[i] != want[i] {
				t.Errorf("change %d: got %v, want %v", i, heard[i], want[i])
			}
		}
	})
}

func TestListenerMayUseTheLatchAndPanic(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		l := start(t, newPeer(t, server).latch())
		await(t, l)
		told := 0
		l.OnChange(func(*locks.Lease) {
			told++
			if told == 1 {
				panic("a listener")
			}
			runtime.Goexit()
		})
		l.OnChange(func(term *locks.Lease) { // the present term first
			if term != nil {
				wantErr(t, l.Close(), nil)
			}
		})
		synctest.Wait()
		wantNodes(t, server, 0)
		if told != 2 {
			t.Errorf("told %d changes, want 2", told)
		}
	})
}

func TestStoppedListenerHearsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		l := start(t, newPeer(t, server).latch())
		await(t, l)
		told := 0
		stop := l.OnChange(func(*locks.Lease) { told++ })
		synctest.Wait()
		stop()
		wantErr(t, l.Close(), nil)
		synctest.Wait()
		if told != 1 {
			t.Errorf("told %d changes, want 1", told)
		}
	})
}
