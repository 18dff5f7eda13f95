package play_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/playground/internal/play"
	"github.com/gocurator/curator/framework/zktest"
)

// A run is what happens to some workers on one server.
type run struct {
	server *play.Server
	links  []*zktest.Link // the workers', in their order

	mu     sync.Mutex
	events []play.Event
}

func (r *run) tell(e play.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// between lists events of some kinds, as "kind worker".
func (r *run) between(kinds ...string) (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if slices.Contains(kinds, e.Kind) {
			list = append(list, fmt.Sprint(e.Kind, " ", e.Worker))
		}
	}
	return list
}

// start lets workers contend, until the test's bubble ends.
func start(t *testing.T, settings ...play.Settings) *run {
	t.Helper()
	r := new(run)
	r.server = play.NewServer(r.tell)
	ctx, cancel := context.WithCancel(t.Context())
	begin := make(chan struct{})
	var workers sync.WaitGroup
	for _, s := range settings {
		link := r.server.NewLink()
		r.links = append(r.links, link)
		worker := &play.Worker{Settings: s, Dial: link.DialContext, Tell: r.tell, Begin: begin}
		workers.Go(func() {
			if err := worker.Run(ctx); ctx.Err() == nil {
				t.Errorf("worker %d ended: %v", s.Number, err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		workers.Wait()
		_ = r.server.Close()
	})
	time.Sleep(100 * time.Millisecond) // in a bubble: all are connected then
	close(begin)
	return r
}

// settings are those of some workers, who begin in their order.
func settings(lock string, workers int) (list []play.Settings) {
	for n := range workers {
		list = append(list, play.Settings{
			Number: n + 1, Lock: lock, Start: 300 * float64(n+1), Hold: 1200, Pause: 300, Session: 4000,
		})
	}
	return list
}

func TestWorkersTakeTurnsInTheirOrder(t *testing.T) {
	for _, lock := range []string{"mutex", "leader"} {
		t.Run(lock, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				r := start(t, settings(lock, 3)...)
				time.Sleep(5400 * time.Millisecond)
				want := []string{
					"acquired 1", "released 1", "acquired 2", "released 2", "acquired 3", "released 3", "acquired 1", "released 1", "acquired 2",
				}
				if got := r.between(play.Acquired, play.Released, play.Lost); !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}

func TestReadersShareALock(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		s := settings("readwrite", 3)
		s[2].Write = true
		r := start(t, s...)
		time.Sleep(2000 * time.Millisecond)
		want := []string{"acquired 1", "acquired 2", "released 1", "released 2", "acquired 3"}
		if got := r.between(play.Acquired, play.Released); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestHolderThatIsCutOffLosesTheLockBeforeAnotherHasIt(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		r := start(t, settings("mutex", 3)...)
		time.Sleep(2200 * time.Millisecond)
		r.links[1].Mute()
		time.Sleep(6 * time.Second)
		got := r.between(play.Acquired, play.Lost, play.Expired)
		if want := []string{"acquired 1", "acquired 2", "lost 2", "expired 2", "acquired 3"}; !slices.Equal(got[:min(len(got), len(want))], want) {
			t.Errorf("got %q, want it to begin with %q", got, want)
		}
		r.links[1].Heal()
		time.Sleep(8 * time.Second)
		if got := r.between(play.Acquired); !slices.Contains(got[3:], "acquired 2") {
			t.Errorf("got %q after the network was whole again, want worker 2 to hold again", got)
		}
	})
}

// A worker whose work is done needs the network to say so.
func TestHoldLastsOnWhileThereIsNoConnection(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		r := start(t, settings("mutex", 1)...)
		time.Sleep(time.Second)
		r.links[0].Cut()
		time.Sleep(time.Second)
		if got, want := r.between(play.Acquired, play.Left, play.Released, play.Lost), []string{"acquired 1", "left 1"}; !slices.Equal(slices.Compact(got), want) {
			t.Errorf("got %q without a connection, want %q", got, want)
		}
		r.links[0].Heal()
		time.Sleep(time.Second)
		if got := r.between(play.Released); len(got) != 1 {
			t.Errorf("got %d releases after the connection came back, want 1", len(got))
		}
	})
}

func TestDeletedNodeEndsItsHold(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		r := start(t, settings("mutex", 2)...)
		time.Sleep(2200 * time.Millisecond)
		r.server.Remove(2)
		time.Sleep(200 * time.Millisecond)
		// Its holder and the next worker hear of it at one time.
		got := r.between(play.Acquired, play.Released, play.Lost)
		if !slices.Contains(got, "lost 2") || slices.Contains(got, "released 2") {
			t.Errorf("got %q, want that worker 2 lost the lock", got)
		}
	})
}

func TestServerTellsItsQueue(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		r := start(t, settings("mutex", 3)...)
		time.Sleep(1200 * time.Millisecond)
		r.mu.Lock()
		defer r.mu.Unlock()
		var last play.Event
		for _, e := range r.events {
			if e.Kind == play.Queue {
				last = e
			}
		}
		var workers []int
		for _, node := range last.Queue {
			workers = append(workers, node.Worker)
			if !strings.Contains(node.Name, "lock-") {
				t.Errorf("got the node %q, want that of a lock", node.Name)
			}
		}
		if want := []int{1, 2, 3}; !slices.Equal(workers, want) {
			t.Errorf("got nodes of %v, want of %v", workers, want)
		}
	})
}
