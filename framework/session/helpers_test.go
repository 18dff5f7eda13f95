package session_test

import (
	"testing"

	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// bubble runs f in a bubble, in which time is virtual and no goroutine may be left, with a connected client.
func bubble(t *testing.T, f func(t *testing.T, w *clienttest.Env)) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		w := clienttest.New(t)
		w.Connected()
		f(t, w)
	})
}
