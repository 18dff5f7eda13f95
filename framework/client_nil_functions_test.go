package framework_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
)

// What returns an error refuses a nil function by it, before anything is sent; what returns none panics on the
// goroutine of its caller. Otherwise the client would, on a goroutine of its own and with everything that it holds.
func TestNilFunctionsAreRefusedWhereTheyEnter(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		for want, call := range map[string]func() error{
			`framework: create "/a": an option is nil`: func() error {
				_, _, err := w.Client.Create(t.Context(), "/a", nil, nil)
				return err
			},
			`framework: transaction: part 0 (create "/a"): an option is nil`: func() error {
				_, err := w.Client.Transaction(t.Context(), framework.CreateOp("/a", nil, nil))
				return err
			},
			`framework: delete "/a": an option is nil`: func() error { return w.Client.Delete(t.Context(), "/a", -1, nil) },
			`panic: framework: OnStateChange: the function is nil`: func() error {
				w.Client.OnStateChange(nil)
				return nil
			},
			`panic: framework: QueueTrace: the function is nil`: func() error {
				w.Client.QueueTrace(nil)
				return nil
			},
			`panic: framework: QueueTraceAlways: the function is nil`: func() error {
				w.Client.QueueTraceAlways(nil)
				return nil
			},
			`session: Bind: the function is nil`: func() error {
				_, err := s.Bind(nil, nil)
				return err
			},
			`panic: session: watch on "/a": the function is nil`: func() error {
				s.WatchData("/a", nil)
				return nil
			},
		} {
			if got := panicOf(call); got == nil || got.Error() != want {
				t.Errorf("got %v, want %s", got, want)
			}
		}
		reported := make(chan struct{})
		w.Client.QueueTrace(func() { close(reported) })
		select {
		case <-reported:
		case <-time.After(time.Minute):
			t.Error("got no call of a trace after a nil one, want it")
		}
	})
}

// panicOf is call, with a panic as its error.
func panicOf(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return call()
}
