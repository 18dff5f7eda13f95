package session_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
)

func TestSignalsBeforeAWaitEndOneWait(t *testing.T) {
	bubble(t, func(t *testing.T, w *clienttest.Env) {
		waiter, s := session.NewWaiter(), w.Session()
		waiter.Signal()
		waiter.Signal()
		if err := waiter.Wait(w.Context(), s, nil); err != nil {
			t.Errorf("first wait: got %v, want nil", err)
		}
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if err := waiter.Wait(ctx, s, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("second wait: got %v, want %v", err, context.DeadlineExceeded)
		}
	})
}

func TestAWaitEndsBySignalChannelSessionOrContext(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(w *clienttest.Env, waiter session.Waiter, also chan struct{}, cancel func())
		want error
	}{
		"a signal of a copy": {func(_ *clienttest.Env, waiter session.Waiter, _ chan struct{}, _ func()) { waiter.Signal() }, nil},
		"the channel":        {func(_ *clienttest.Env, _ session.Waiter, also chan struct{}, _ func()) { close(also) }, nil},
		"the session's end":  {func(w *clienttest.Env, _ session.Waiter, _ chan struct{}, _ func()) { w.Client.Close() }, framework.ErrClosed},
		"the context's end":  {func(_ *clienttest.Env, _ session.Waiter, _ chan struct{}, cancel func()) { cancel() }, context.Canceled},
		"the session's expiry": {func(w *clienttest.Env, _ session.Waiter, _ chan struct{}, _ func()) {
			w.Server.ExpireSession(w.Session().ID())
		}, framework.ErrSessionLost},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *clienttest.Env) {
				waiter, also := session.NewWaiter(), make(chan struct{})
				ctx, cancel := context.WithCancel(w.Context())
				defer cancel()
				ended := make(chan error, 1)
				go func() { ended <- waiter.Wait(ctx, w.Session(), also) }()
				time.Sleep(time.Second)
				if len(ended) > 0 {
					t.Fatalf("got an end by %v, want the wait to last", <-ended)
				}
				test.end(w, waiter, also, cancel)
				if err := <-ended; !errors.Is(err, test.want) {
					t.Errorf("got %v, want %v", err, test.want)
				}
			})
		})
	}
}
