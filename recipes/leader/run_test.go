package leader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// soon takes a value that must come within an hour of the bubble's time.
func soon[T any](t *testing.T, values <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-values:
	case <-time.After(time.Hour):
		t.Fatal("got nothing within an hour, want a value")
	}
	return value
}

func nothing(context.Context) error { return nil }

var errLead = errors.New("the function that leads has failed")

// With Java's latch the successor leads while notLeader still runs.
func TestTermEndsBeforeItsNodeIsRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		s := newPeer(t, server).selector()
		var work context.Context
		returned, removals := false, 0
		stop := server.Observe(func(r zktest.Request) {
			if r.Op != zktest.OpDelete {
				return
			}
			removals++
			if !returned || work.Err() == nil || s.HasLeadership() {
				t.Errorf("the node is removed: function returned: %t, context: %v", returned, work.Err())
			}
		})
		defer stop()
		wantErr(t, s.RunOnce(t.Context(), func(ctx context.Context) error {
			work = ctx
			time.Sleep(time.Second)
			returned = true
			return nil
		}), nil)
		wantErr(t, context.Cause(work), locks.ErrReleased)
		if removals != 1 {
			t.Errorf("got %d removals", removals)
		}
	})
}

func TestRunWaitsForItsFunctionBeforeItResigns(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		cause := errors.New("SIGTERM")
		ctx, cancel := context.WithCancelCause(t.Context())
		run := begin(t, func() error {
			return p.selector().Run(ctx, func(ctx context.Context) error {
				<-ctx.Done()
				time.Sleep(time.Second) // tidies up
				wantNodes(t, server, 1)
				wantErr(t, leader.LeaseFromContext(ctx).Err())
				return errLead
			})
		})
		cancel(cause)
		wantErr(t, run(), cause, context.Canceled, errLead)
		wantNodes(t, server, 0)
		wantErr(t, p.selector().Run(ctx, nothing), cause, context.Canceled)
	})
}

func TestRunStandsAgainBehindTheOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var order []string
		var runs []func() error
		for _, name := range []string{"a", "b", "c"} {
			s := newPeer(t, server).selector()
			runs = append(runs, begin(t, func() error {
				return s.Run(ctx, func(ctx context.Context) error {
					if order = append(order, name); len(order) == 9 {
						cancel()
					}
					time.Sleep(time.Second)
					return nil
				})
			}))
		}
		for _, run := range runs {
			wantErr(t, run(), context.Canceled)
		}
		for i, name := range order {
			if want := string("abc"[i%3]); name != want {
				t.Fatalf("got turns %v", order)
			}
		}
		wantNodes(t, server, 0) // two of them have waited
	})
}

func TestRunLeadsAgainAfterEachLoss(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, server *zktest.Server, p *peer){
		"session expired": func(t *testing.T, server *zktest.Server, p *peer) { expire(server, p.sessionID(t)) },
		"node removed": func(t *testing.T, server *zktest.Server, _ *peer) {
			time.Sleep(time.Second)
			wantErr(t, server.Delete(path+"/"+server.Children(path)[0]))
		},
		"long outage": func(_ *testing.T, _ *zktest.Server, p *peer) {
			p.link.Cut()
			time.Sleep(10 * time.Minute)
			p.link.Heal()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				ctx, cancel := context.WithCancel(t.Context())
				terms := make(chan *locks.Lease)
				run := begin(t, func() error {
					return p.selector().Run(ctx, func(ctx context.Context) error {
						terms <- leader.LeaseFromContext(ctx)
						return untilDone(ctx)
					})
				})
				var token int64
				for range retries + 3 { // more often than the policy allows failures
					term := soon(t, terms)
					if term.FencingToken() <= token {
						t.Errorf("got token %d after %d", term.FencingToken(), token)
					}
					token = term.FencingToken()
					lose(t, server, p)
					soon(t, term.Done())
					wantErr(t, term.Err(), locks.ErrLeaseLost)
				}
				soon(t, terms)
				cancel()
				wantErr(t, run(), context.Canceled)
			})
		})
	}
}

func TestRunPausesAfterFailuresUntilThePolicyEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var begun []time.Time
		err := newPeer(t, server).selector().Run(t.Context(), func(context.Context) error {
			begun = append(begun, time.Now())
			if len(begun) > 10 {
				return retry.Permanent(errLead)
			}
			if len(begun) == 3 {
				return nil // the policy starts again
			}
			return errLead
		})
		wantErr(t, err, errLead, retry.ErrExhausted)
		if want := 3 + 1 + retries; len(begun) != want {
			t.Fatalf("got %d terms, want %d", len(begun), want)
		}
		for i := range begun[1:] {
			want := retryPause
			if i == 2 {
				want = 0
			}
			if got := begun[i+1].Sub(begun[i]); got != want {
				t.Errorf("got a pause of %v after term %d, want %v", got, i+1, want)
			}
		}
		wantNodes(t, server, 0)
	})
}

func TestFailureThatTheLossDoesNotExplainCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		terms := 0
		err := p.selector().Run(t.Context(), func(ctx context.Context) error {
			if terms++; terms > 1+retries {
				return retry.Permanent(errLead)
			}
			expire(server, p.sessionID(t))
			<-ctx.Done()
			return errLead
		})
		wantErr(t, err, errLead, locks.ErrLeaseLost, retry.ErrExhausted)
		if terms != 1+retries {
			t.Errorf("got %d terms", terms)
		}
	})
}

func TestPermanentErrorEndsRun(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		terms := 0
		err := newPeer(t, server).selector().Run(t.Context(), func(context.Context) error {
			terms++
			return retry.Permanent(errLead)
		})
		if !errors.Is(err, errLead) || terms != 1 {
			t.Errorf("got %v after %d terms", err, terms)
		}
	})
}

func TestRunEndsWithItsClient(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		run := begin(t, func() error { return p.selector().Run(t.Context(), untilDone) })
		begun := time.Now()
		_ = p.Close()
		wantErr(t, run(), framework.ErrClosed)
		if took := time.Since(begun); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

func TestRunWithoutAConnectionFailsByThePolicy(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		p.link.Cut()
		time.Sleep(time.Second)
		var unreachable *framework.ConnectError
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := p.selector().Run(ctx, nothing)
		if !errors.As(err, &unreachable) || !errors.Is(err, retry.ErrExhausted) {
			t.Errorf("got %v", err)
		}
	})
}

func TestPanicOfALeaderResigns(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		s := newPeer(t, server).selector()
		func() {
			defer func() {
				if recover() == nil {
					t.Error("got no panic, want that of the function")
				}
			}()
			_ = s.Run(t.Context(), func(context.Context) error { panic("lead") })
		}()
		wantNodes(t, server, 0)
	})
}

func TestCheckOfATermRefusesALateWrite(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		must(t, server.Create("/journal", nil))
		if leader.LeaseFromContext(t.Context()) != nil {
			t.Error("got a term of a selector that does not lead, want none")
		}
		write := func(check framework.Op) error {
			_, err := p.Transaction(t.Context(), check, framework.SetOp("/journal", []byte("1"), -1))
			return err
		}
		var late framework.Op
		wantErr(t, p.selector().RunOnce(t.Context(), func(ctx context.Context) error {
			late = leader.LeaseFromContext(ctx).Check()
			return write(leader.LeaseFromContext(ctx).Check())
		}), nil)
		if err := write(late); err == nil {
			t.Error("got no error of a write after the term, want one")
		}
	})
}

// Run stands for election by itself, also if the context has a term of the same election. It would find that term
// again after each return of its function, and after the term's end nothing else.
func TestRunWithinATermStandsBehindIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		term := lead(t, p.selector())
		ctx, cancel := context.WithCancel(context.WithoutCancel(term.Context(t.Context())))
		defer cancel()
		var tokens []int64
		run := begin(t, func() error {
			return p.selector().Run(ctx, func(ctx context.Context) error {
				tokens = append(tokens, leader.LeaseFromContext(ctx).FencingToken())
				if len(tokens) == 3 {
					cancel()
				}
				return nil
			})
		})
		if len(tokens) > 0 {
			t.Errorf("got %d terms within another one, want none", len(tokens))
		}
		wantErr(t, term.Release(), nil)
		wantErr(t, run(), context.Canceled)
		for i, token := range tokens {
			if token <= term.FencingToken() || i > 0 && token <= tokens[i-1] {
				t.Errorf("got tokens %v after %d, want growing ones", tokens, term.FencingToken())
			}
		}
		wantNodes(t, server, 0)
	})
}

// The function of Run has the caller's other locks.
func TestLeaderOfRunOwnsWhatItsCallerOwns(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := locks.NewInterProcessMutex(p.Client, "/locks/a")
		done := errors.New("done")
		wantErr(t, locks.Do(t.Context(), mutex, func(ctx context.Context) error {
			return p.selector().Run(ctx, func(ctx context.Context) error {
				lease, err := locks.Within(mutex, time.Minute).Acquire(ctx)
				if err == nil {
					err = lease.Release()
				}
				if err != nil {
					return retry.Permanent(err)
				}
				return retry.Permanent(done)
			})
		}), done)
	})
}
