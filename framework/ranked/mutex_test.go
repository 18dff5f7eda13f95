package ranked_test

import (
	"sync"
	"testing"

	"github.com/gocurator/curator/framework/ranked"
)

// The types whose mutexes the tests lock, from the outer to the inner.
type (
	outer struct {
		mu ranked.Mutex[ranked.Recipe, outer]
	}
	table struct {
		mu ranked.Mutex[ranked.Session, table]
	}
	leaf struct {
		mu ranked.Mutex[ranked.Leaf, leaf]
	}
)

func TestEachRankOfTheOrderIsHigherThanTheOneBefore(t *testing.T) {
	order := []ranked.Rank{
		ranked.Recipe{}, ranked.Registry{}, ranked.View{}, ranked.Client{}, ranked.Session{}, ranked.Branch{}, ranked.Leaf{},
	}
	for i, rank := range order[1:] {
		if got, before := rank.Rank(), order[i].Rank(); got <= before {
			t.Errorf("%T: got rank %d, want more than the %d of %T", rank, got, before, order[i])
		}
	}
}

// With the race detector a false alarm ends the process, and so fails this test.
func TestTheOrderMayBeKeptInEachWay(t *testing.T) {
	var o outer
	var b table
	var l, other leaf
	tests := map[string]func(){
		"unlocked in the reverse order": func() {
			o.mu.Lock()
			b.mu.Lock()
			l.mu.Lock()
			l.mu.Unlock()
			b.mu.Unlock()
			o.mu.Unlock()
		},
		"unlocked in the same order": func() {
			o.mu.Lock()
			b.mu.Lock()
			o.mu.Unlock()
			l.mu.Lock()
			b.mu.Unlock()
			l.mu.Unlock()
		},
		"two of a rank, one after the other": func() {
			l.mu.Lock()
			l.mu.Unlock()
			other.mu.Lock()
			other.mu.Unlock()
		},
		"an outer one after an inner": func() {
			l.mu.Lock()
			l.mu.Unlock()
			o.mu.Lock()
			o.mu.Unlock()
		},
		"a goroutine beside one that holds an inner one": func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			done := make(chan struct{})
			go func() {
				defer close(done)
				o.mu.Lock()
				defer o.mu.Unlock()
				other.mu.Lock()
				defer other.mu.Unlock()
			}()
			<-done
		},
	}
	for name, play := range tests {
		t.Run(name, func(*testing.T) { play() })
	}
}

// With the race detector this fails also if the check itself is a race.
func TestGoroutinesMayLockMutexesOfTheirOwn(*testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var o outer
			var l leaf
			for range 1000 {
				o.mu.Lock()
				l.mu.Lock()
				l.mu.Unlock()
				o.mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestMutexExcludes(t *testing.T) {
	var l leaf
	var wg sync.WaitGroup
	n := 0
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				l.mu.Lock()
				n++
				l.mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n != 8000 {
		t.Errorf("got a count of %d, want 8000", n)
	}
}
