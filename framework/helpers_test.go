package framework_test

import (
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// env is what a test has, with methods of its own.
type env struct{ *clienttest.Env }

// bubble runs f in a bubble, in which time is virtual and no goroutine may be left, with a connected client.
func bubble(t *testing.T, f func(t *testing.T, w *env), opts ...framework.Option) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		w := newEnv(t, opts...)
		w.Connected()
		f(t, w)
	})
}

func newEnv(t *testing.T, opts ...framework.Option) *env {
	t.Helper()
	return &env{clienttest.New(t, opts...)}
}

func newCutEnv(t *testing.T, opts ...framework.Option) *env {
	t.Helper()
	return &env{clienttest.NewCut(t, opts...)}
}

var must, wantErr = clienttest.Must, clienttest.WantErr
