//go:build linux

package interop_test

import (
	"sync"
	"testing"
)

// A story is a test that shares a server and drivers with others.
type story struct {
	name string
	play func(w *world)
}

// playAll plays stories at one server, all at a time: most of the time they wait for clients that connect again.
func playAll(t *testing.T, stories []story) {
	t.Helper()
	w := newWorld(t)
	fleet.get(t, java) // skips all of them if there is no Java
	var playing sync.WaitGroup
	for _, s := range stories {
		playing.Go(func() {
			t.Run(s.name, func(t *testing.T) { s.play(w.in(t)) })
		})
	}
	playing.Wait()
}
