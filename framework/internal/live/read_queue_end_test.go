package live_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// The server hangs, so the first read keeps the only slot.
func TestReadManyWhoseContextEndsWhileItWaitsForASlotAsksForNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths, g := fill(t, w.Server, 300, 10), gauged(t, w)
		get, stop := arrivals(w.Server)
		defer stop()
		w.Server.Freeze()
		var running sync.WaitGroup
		running.Go(func() { wantMany(t, g.session, paths[:100], 10) })
		synctest.Wait()
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		for range 10 {
			running.Go(func() {
				rounds := 0
				for _, err := range g.session.ReadMany(ctx, paths[100:200], session.ReadData) {
					wantErr(t, err, enough)
					rounds++
				}
				if rounds != 1 {
					t.Errorf("got %d rounds, want its error alone", rounds)
				}
			})
		}
		running.Go(func() { wantMany(t, g.session, paths[200:], 10) }) // behind those
		synctest.Wait()
		cancel(enough)
		synctest.Wait()
		w.Server.Unfreeze()
		running.Wait()
		if order, _ := get(); len(order) != 200 || slices.Contains(order, paths[100]) {
			t.Errorf("got %d reads, want those of the 200 nodes whose ReadManys did not end", len(order))
		}
	})
}

// Each of these ends with reads under way, and in the queue.
func TestReadManysThatEndEarlyGiveTheirSlotsBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths, g := fill(t, w.Server, 2_000, 10), gauged(t, w)
		begun := time.Now()
		wantMany(t, g.session, paths[:1_000], 10)
		alone := time.Since(begun)
		for round := range 20 {
			together(paths, 50, func(part []string) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(round)*oneWay/2)
				defer cancel()
				for read, err := range g.session.ReadMany(ctx, part, session.ReadData) {
					if err == nil && strings.HasSuffix(read.Path, "7") { // or by ctx
						break
					}
				}
			})
			sent := g.reads()
			time.Sleep(time.Minute) // all is answered
			if late := g.reads() - sent; late != 0 {
				t.Errorf("got %d reads after the end of all loops, want none", late)
			}
		}
		g.wantMost(t, 32)
		begun = time.Now()
		wantMany(t, g.session, paths[:1_000], 10)
		if took := time.Since(begun); took != alone {
			t.Errorf("got all nodes after %v, want %v as before", took, alone)
		}
		g.wantMost(t, 32)
	})
}

func TestReadManysBeginWithOneReadAfterALostConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths, g := fill(t, w.Server, 2_000, 10), gauged(t, w)
		get, stop := arrivals(w.Server)
		defer stop()
		var lost time.Time
		time.AfterFunc(20*oneWay, func() {
			lost = time.Now()
			w.Link.Reset()
		})
		together(paths, 10, func(part []string) { wantMany(t, g.session, part, 10) })
		g.wantMost(t, 32)
		var counts []int
		_, at := get()
		for i, now := range at {
			if !now.After(lost) {
				continue
			}
			if !now.Equal(at[i-1]) {
				counts = append(counts, 0)
			}
			counts[len(counts)-1]++
		}
		if want := []int{1, 2, 4, 8, 16, 32, 32}; !slices.Equal(counts[:min(7, len(counts))], want) {
			t.Errorf("got %v reads at one moment after the loss, want %v", counts, want)
		}
	})
}

// The one has the slot, and hears of its lost read. The other has none under way.
func TestReadManyThatWaitsForASlotGoesOnAfterALostConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths, g := fill(t, w.Server, 200, 10), gauged(t, w)
		w.Server.Freeze()
		go func() {
			time.Sleep(oneWay)
			w.Link.Reset()
			w.Server.Unfreeze()
		}()
		begun := time.Now()
		together(paths, 2, func(part []string) { wantMany(t, g.session, part, 10) })
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("got all nodes after %v, want them soon after the next connection", took)
		}
	})
}

func TestReadManysOfASessionThatEndsAllReportIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths, g := fill(t, w.Server, 2_000, 10), gauged(t, w)
		time.AfterFunc(20*oneWay, func() { w.Server.ExpireSession(g.session.ID()) })
		ends := make(chan error, 10)
		together(paths, 10, func(part []string) {
			for _, err := range g.session.ReadMany(t.Context(), part, session.ReadData) {
				if err != nil {
					ends <- err
				}
			}
		})
		if len(ends) != 10 {
			t.Fatalf("got %d ReadManys that ended with an error, want 10", len(ends))
		}
		for range 10 {
			wantErr(t, <-ends, framework.ErrSessionLost)
		}
	})
}
