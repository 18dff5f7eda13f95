package live_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

func TestReadManyGoesOnAfterALostConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths := fill(t, w.Server, 200, 10)
		w.Server.DropReply(zktest.Match{Op: zktest.OpGetData, Path: paths[20]})
		s := w.Session()
		wantMany(t, s, paths, 10)
		if w.Session() != s {
			t.Error("got another session, want the same")
		}
	})
}

// The pauses are those of retry.Pace: 0, 10 ms, 20 ms and so on, each shortened by half at most.
func TestReadManyAsksAnOverloadedServerAgainAfterPauses(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths := fill(t, w.Server, 100, 10)
		for n := range 6 {
			w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpGetData, Path: paths[50], Nth: n + 1})
		}
		begun := time.Now()
		wantMany(t, w.Session(), paths, 10)
		if took := time.Since(begun); took < 155*time.Millisecond || took > 310*time.Millisecond {
			t.Errorf("got all nodes after %v, want pauses of 155 to 310 ms", took)
		}
	})
}

// One node is refused, and the answers behind it take long: what the server has still to do is its load.
func TestReadManyAsksAnOverloadedServerAgainWhenTheRestIsAnswered(t *testing.T) {
	const delay = 300 * time.Millisecond
	bubble(t, func(t *testing.T, w *env) {
		paths, g := fill(t, w.Server, 100, 10), gauged(t, w)
		w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpGetData, Path: paths[50]})
		w.Server.DelayReply(zktest.Match{Op: zktest.OpGetData, Path: paths[52]}, delay)
		get, stop := arrivals(w.Server)
		defer stop()
		wantMany(t, g.session, paths, 10)
		var refused []time.Time
		order, at := get()
		for i, path := range order {
			if path == paths[50] {
				refused = append(refused, at[i])
			}
		}
		if len(refused) != 2 || refused[1].Sub(refused[0]) < delay {
			t.Errorf("got reads at %v, want two, %v apart", refused, delay)
		}
	})
}

func TestReadManyEndsWithItsContextTheSessionOrALongOutage(t *testing.T) {
	ctxEnded := errors.New("enough")
	for name, c := range map[string]struct {
		end   func(w *env, s session.Session, cancel func(error))
		want  error
		after time.Duration
	}{
		"ctx, at a server that hangs": {func(w *env, _ session.Session, cancel func(error)) {
			w.Server.Freeze()
			time.AfterFunc(time.Second, func() { cancel(ctxEnded) })
		}, ctxEnded, time.Second},
		"session": {func(w *env, s session.Session, _ func(error)) { w.Server.ExpireSession(s.ID()) }, framework.ErrSessionLost, time.Second},
		"outage":  {func(w *env, _ session.Session, _ func(error)) { w.Link.Cut() }, framework.ErrConnectionLost, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				paths := fill(t, w.Server, 200, 10)
				w.Link.SetLatency(10 * time.Millisecond)
				s := w.Session()
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				time.AfterFunc(100*time.Millisecond, func() { c.end(w, s, cancel) })
				nodes, begun := 0, time.Now()
				var failed error
				for read, err := range s.ReadMany(ctx, paths, session.ReadData) {
					if failed != nil {
						t.Fatalf("got a round after error %v, want the end", failed)
					}
					if failed = err; err == nil && read.Path != paths[nodes] {
						t.Errorf("got %s, want %s", read.Path, paths[nodes])
					}
					nodes++
				}
				if c.want != ctxEnded && !session.ShouldStartOver(ctx, failed) {
					t.Errorf("got error %v, want one after which a recipe begins again", failed)
				}
				if !errors.Is(failed, c.want) || nodes < 2 || nodes > 100 {
					t.Errorf("got error %v after %d rounds, want %v in the middle", failed, nodes, c.want)
				}
				if took := time.Since(begun); took > 100*time.Millisecond+c.after {
					t.Errorf("got the end after %v, want it %v after its cause", took, c.after)
				}
				w.Server.Unfreeze()
			}, framework.WithConnectionTimeout(5*time.Second))
		})
	}
}

// A lateContext runs a function in the first Err after a moment: between the end of a wait and the look at its cause.
type lateContext struct {
	context.Context
	at   time.Time
	late func()
}

func (c *lateContext) Err() error {
	if late := c.late; late != nil && !c.at.IsZero() && !time.Now().Before(c.at) {
		c.late = nil
		late()
	}
	return c.Context.Err()
}

// The wait for a connection has lasted for the connection timeout. Before ReadMany looks why it has ended, the session
// ends, or ctx does: the deadline of the wait is no caller's.
func TestReadManyReportsNoDeadlineOfItsOwn(t *testing.T) {
	const limit = 5 * time.Second
	ctxEnded := errors.New("enough")
	for name, want := range map[string]error{"ctx": ctxEnded, "session": framework.ErrClosed, "outage": framework.ErrConnectionLost} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				paths := fill(t, w.Server, 100, 10)
				s := w.Session()
				inner, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				ctx := &lateContext{Context: inner, late: func() {
					switch want {
					case ctxEnded:
						cancel(ctxEnded)
					case framework.ErrClosed:
						_ = w.Client.Close()
					}
				}}
				var failed error
				for _, err := range s.ReadMany(ctx, paths, session.ReadData) {
					if failed = err; err == nil && ctx.at.IsZero() {
						w.Link.Cut()
						ctx.at = time.Now().Add(limit)
					}
				}
				if !errors.Is(failed, want) || errors.Is(failed, context.DeadlineExceeded) {
					t.Errorf("got %v, want %v", failed, want)
				}
			}, framework.WithConnectionTimeout(limit))
		})
	}
}
