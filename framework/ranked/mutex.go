//go:build !race

package ranked

import "sync"

// A Mutex is a [sync.Mutex] of rank R in the type Of, whose name a report has. The zero value is ready for use. The
// goroutine that locks it also unlocks it.
type Mutex[R Rank, Of any] struct {
	mu sync.Mutex
}

// Lock locks m.
func (m *Mutex[R, Of]) Lock() { m.mu.Lock() }

// Unlock unlocks m.
func (m *Mutex[R, Of]) Unlock() { m.mu.Unlock() }
