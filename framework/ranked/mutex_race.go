//go:build race

package ranked

import "sync"

// A Mutex is a [sync.Mutex] of rank R in the type Of, whose name a report has. The zero value is ready for use. The
// goroutine that locks it also unlocks it.
type Mutex[R Rank, Of any] struct {
	mu   sync.Mutex
	held holding
}

// Lock locks m, and ends the process if that breaks the order: not here, but in the Unlock of the mutex that the
// goroutine held.
func (m *Mutex[R, Of]) Lock() {
	var rank R
	m.mu.Lock()
	m.held.begin(rank.Rank(), (*Of)(nil))
}

// Unlock unlocks m.
func (m *Mutex[R, Of]) Unlock() {
	m.held.end()
	m.mu.Unlock()
}
