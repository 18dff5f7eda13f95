//go:build !race

package ranked_test

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/gocurator/curator/framework/ranked"
)

func TestWithoutTheRaceDetectorAMutexIsAsSmallAsThatOfSync(t *testing.T) {
	var got ranked.Mutex[ranked.Leaf, leaf]
	var want sync.Mutex
	if unsafe.Sizeof(got) != unsafe.Sizeof(want) {
		t.Errorf("got %d bytes, want %d", unsafe.Sizeof(got), unsafe.Sizeof(want))
	}
}

// The two take the same time: the compiler inlines Lock and Unlock down to the two instructions of sync.Mutex.
func BenchmarkMutex(b *testing.B) {
	b.Run("ranked", func(b *testing.B) {
		var l leaf
		for b.Loop() {
			l.mu.Lock()
			l.mu.Unlock()
		}
	})
	b.Run("sync", func(b *testing.B) {
		var l struct{ mu sync.Mutex }
		for b.Loop() {
			l.mu.Lock()
			l.mu.Unlock()
		}
	})
}
