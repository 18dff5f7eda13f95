package framework_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// everyOp is each operation of a client, on a node that is there.
func everyOp(client *framework.Client) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"get":      func(ctx context.Context) error { _, _, err := client.Get(ctx, "/a"); return err },
		"exists":   func(ctx context.Context) error { _, err := client.Exists(ctx, "/a"); return err },
		"children": func(ctx context.Context) error { _, _, err := client.Children(ctx, "/a"); return err },
		"set":      func(ctx context.Context) error { _, err := client.Set(ctx, "/a", nil, -1); return err },
		"sync":     func(ctx context.Context) error { return client.Sync(ctx, "/a") },
		"ACL":      func(ctx context.Context) error { _, _, err := client.ACL(ctx, "/a"); return err },
		"set ACL": func(ctx context.Context) error {
			_, err := client.SetACL(ctx, "/a", zk.WorldACL(zk.PermAll), -1)
			return err
		},
		"create": func(ctx context.Context) error {
			_, _, err := client.Create(ctx, "/a/n-", nil, framework.WithMode(framework.PersistentSequential))
			return err
		},
		"protected create": func(ctx context.Context) error {
			_, _, err := client.Create(ctx, "/a/n", nil, framework.WithProtection(), framework.CreatingParentsIfNeeded())
			return err
		},
		"delete": func(ctx context.Context) error { return client.Delete(ctx, "/a/deleted", -1) },
		"transaction": func(ctx context.Context) error {
			_, err := client.Transaction(ctx, framework.CheckOp("/a", -1))
			return err
		},
	}
}

var kindOf = map[string]zktest.Op{
	"get": zktest.OpGetData, "exists": zktest.OpExists, "children": zktest.OpGetChildren2, "set": zktest.OpSetData,
	"sync": zktest.OpSync, "ACL": zktest.OpGetACL, "set ACL": zktest.OpSetACL, "create": zktest.OpCreate2,
	"protected create": zktest.OpCreate2, "delete": zktest.OpDelete, "transaction": zktest.OpMulti,
}

// each runs f for every operation, in a bubble of its own.
func each(t *testing.T, f func(t *testing.T, w *env, name string, op func(ctx context.Context) error), opts ...framework.Option) {
	for name := range kindOf {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/a")
				w.Make("/a/deleted")
				f(t, w, name, everyOp(w.Client)[name])
			}, opts...)
		})
	}
}

func TestEveryOperationSucceeds(t *testing.T) {
	each(t, func(t *testing.T, w *env, _ string, op func(context.Context) error) {
		wantErr(t, op(t.Context()))
	})
}

func TestADoneContextSendsNothing(t *testing.T) {
	each(t, func(t *testing.T, w *env, name string, op func(context.Context) error) {
		wantErr(t, op(canceled(t)), context.Canceled)
		if n := w.Count(kindOf[name]); n != 0 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestEveryOperationSurvivesABrokenConnection(t *testing.T) {
	each(t, func(t *testing.T, w *env, name string, op func(context.Context) error) {
		w.Server.DropRequest(zktest.Match{Op: kindOf[name]})
		err := op(t.Context())
		if name == "transaction" {
			wantErr(t, err, framework.ErrConnectionLost) // it may have been executed
		} else if err != nil {
			t.Error(err)
		}
	})
}

func TestEveryOperationHasOneRetryBudget(t *testing.T) {
	each(t, func(t *testing.T, w *env, name string, op func(context.Context) error) {
		tries := 0
		for i := range 50 {
			w.Server.DropRequest(zktest.Match{Op: kindOf[name], Nth: i + 1})
			w.Server.DropRequest(zktest.Match{Op: zktest.OpCreate, Nth: i + 1}) // the create in place of create2
		}
		before := time.Now()
		err := op(t.Context())
		wantErr(t, err, framework.ErrConnectionLost)
		if name != "transaction" {
			wantErr(t, err, retry.ErrExhausted)
			var gaveUp *retry.Error
			if errors.As(err, &gaveUp) {
				tries = gaveUp.Attempts
			}
			if tries != 4 {
				t.Errorf("%d tries", tries)
			}
			if d := time.Since(before); d < 3*time.Second || d > 5*time.Second {
				t.Errorf("it took %v", d)
			}
		}
	}, framework.WithRetryPolicy(retry.NTimes(3, time.Second)))
}

func TestEveryOperationGoesOnInTheNextSession(t *testing.T) {
	each(t, func(t *testing.T, w *env, name string, op func(context.Context) error) {
		w.Server.ExpireSession(w.Session().ID())
		if err := op(t.Context()); err != nil && (name != "transaction" || !errors.Is(err, framework.ErrConnectionLost)) {
			t.Error(err)
		}
	})
}

func TestTheServersAnswersAreNotRetried(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Make("/a/b")
		for _, c := range []struct {
			op   func() error
			want error
		}{
			{func() error { _, _, err := w.Client.Get(t.Context(), "/no"); return err }, zk.ErrNoNode},
			{func() error { _, _, err := w.Client.Children(t.Context(), "/no"); return err }, zk.ErrNoNode},
			{func() error { _, err := w.Client.Set(t.Context(), "/a", nil, 7); return err }, zk.ErrBadVersion},
			{func() error { return w.Client.Delete(t.Context(), "/a", -1) }, zk.ErrNotEmpty},
			{func() error { return w.Client.Delete(t.Context(), "/no", -1) }, zk.ErrNoNode},
			{func() error { return w.Client.Delete(t.Context(), "/a/b", 3) }, zk.ErrBadVersion},
			{func() error { _, err := w.Client.SetACL(t.Context(), "/a", nil, -1); return err }, zk.ErrInvalidACL},
			{func() error { _, _, err := w.Client.Create(t.Context(), "/a", nil); return err }, zk.ErrNodeExists},
			{func() error { _, _, err := w.Client.Create(t.Context(), "/no/a", nil); return err }, zk.ErrNoNode},
		} {
			before := time.Now()
			wantErr(t, c.op(), c.want)
			if !time.Now().Equal(before) {
				t.Errorf("%v came after %v", c.want, time.Since(before))
			}
		}
		if stat, err := w.Client.Exists(t.Context(), "/no"); stat != nil || err != nil {
			t.Errorf("a missing node: %v, %v", stat, err)
		}
	})
}

// Every operation that changes a node takes the version that the node must have, and -1 for any.
func TestEveryChangeTakesTheNodesVersion(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		changes := map[string]func(path string, version int32) error{
			"Set": func(path string, version int32) error {
				_, err := w.Client.Set(t.Context(), path, nil, version)
				return err
			},
			"SetACL": func(path string, version int32) error {
				_, err := w.Client.SetACL(t.Context(), path, zk.WorldACL(zk.PermAll), version)
				return err
			},
			"Delete": func(path string, version int32) error { return w.Client.Delete(t.Context(), path, version) },
			"SetOp": func(path string, version int32) error {
				_, err := w.Client.Transaction(t.Context(), framework.SetOp(path, nil, version))
				return err
			},
			"CheckOp": func(path string, version int32) error {
				_, err := w.Client.Transaction(t.Context(), framework.CheckOp(path, version))
				return err
			},
			"DeleteOp": func(path string, version int32) error {
				_, err := w.Client.Transaction(t.Context(), framework.DeleteOp(path, version))
				return err
			},
		}
		for name, change := range changes {
			for version, want := range map[int32]error{-1: nil, 0: nil, 1: zk.ErrBadVersion} {
				path := fmt.Sprintf("/%s%d", name, version)
				w.Make(path)
				if err := change(path, version); !errors.Is(err, want) {
					t.Errorf("%s of version %d: got %v, want %v", name, version, err, want)
				}
			}
		}
	})
}

func TestADeletionThatMayHaveHappenedHappened(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Server.DropReply(zktest.Match{Op: zktest.OpDelete})
		wantErr(t, w.Client.Delete(t.Context(), "/a", -1))
	})
}

// The first try deletes the node and its answer is lost; the second finds no connection; the third finds no node.
func TestADeletionThatMayHaveHappenedBeforeAnOutageHappened(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Server.DropReply(zktest.Match{Op: zktest.OpDelete})
		deleted := make(chan error, 1)
		go func() { deleted <- w.Client.Delete(t.Context(), "/a", -1) }()
		time.Sleep(500 * time.Millisecond) // the retry policy pauses for a second
		if n := w.Count(zktest.OpDelete); n != 1 || w.Server.Exists("/a") {
			t.Fatalf("got %d deletions, /a there: %t; want 1, and the node gone", n, w.Server.Exists("/a"))
		}
		w.Link.Cut()
		time.Sleep(4 * time.Second) // two seconds of which a try waits for a connection
		w.Link.Heal()
		wantErr(t, <-deleted)
		if n := w.Count(zktest.OpDelete); n != 2 {
			t.Errorf("got %d deletions, want another after the outage", n)
		}
	}, framework.WithConnectionTimeout(2*time.Second))
}

func TestAGuaranteedDeletionHappens(t *testing.T) {
	for name, outage := range map[string]time.Duration{"in the session": clienttest.SessionTimeout / 2, "in the next session": 3 * clienttest.SessionTimeout} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/a")
				w.Link.Cut()
				time.Sleep(time.Second)
				err := w.Client.Delete(w.Within(time.Second), "/a", -1, framework.Guaranteed())
				wantErr(t, err, context.DeadlineExceeded)
				time.Sleep(outage)
				w.Link.Heal()
				w.Eventually("deleted", func() bool { return !w.Server.Exists("/a") })
			})
		})
	}
}

func TestAGuaranteedDeletionAfterTheSessionsEndHappensInTheNext(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Link.Cut()
		w.Eventually("lost", func() bool { return w.States.Has(lost) })
		wantErr(t, w.Client.Delete(w.Within(time.Second), "/a", -1, framework.Guaranteed()), context.DeadlineExceeded)
		w.Link.Heal()
		w.Eventually("deleted", func() bool { return !w.Server.Exists("/a") })
	})
}

func TestARefusedDeletionIsNotRepeated(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Make("/a/b")
		wantErr(t, w.Client.Delete(t.Context(), "/a", -1, framework.Guaranteed()), zk.ErrNotEmpty)
		n := w.Count(zktest.OpDelete)
		time.Sleep(time.Hour)
		if w.Count(zktest.OpDelete) != n {
			t.Errorf("got %d deletions, want %d", w.Count(zktest.OpDelete), n)
		}
		if err := w.Client.Delete(t.Context(), "/a", 1, framework.Guaranteed()); err == nil {
			t.Error("got no error for a version with a guarantee, want one")
		}
	})
}

// The server executes a request, never answers it, and goes on answering pings.
func TestAnOperationOutlastsALostAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		op   zktest.Op
		call func(w *env) error
	}{
		"get": {zktest.OpGetData, func(w *env) error { _, _, err := w.Client.Get(w.Within(time.Hour), "/a"); return err }},
		"set": {zktest.OpSetData, func(w *env) error {
			_, err := w.Client.Set(w.Within(time.Hour), "/a", []byte("2"), -1)
			return err
		}},
		"delete": {zktest.OpDelete, func(w *env) error { return w.Client.Delete(w.Within(time.Hour), "/a", -1) }},
		"create": {zktest.OpCreate2, func(w *env) error {
			_, _, err := w.Client.Create(w.Within(time.Hour), "/b", nil, framework.WithProtection())
			return err
		}},
	} {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, something held %t", name, held), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *env) {
					w.Make("/a")
					if held {
						w.Bind()
					}
					time.Sleep(clienttest.SessionTimeout)
					w.Server.SwallowReply(zktest.Match{Op: c.op})
					before := time.Now()
					wantErr(t, c.call(w))
					most := clienttest.SessionTimeout * 2 / 3
					if held { // a renewal follows within a quarter, and its answer would be one out of order
						most = clienttest.SessionTimeout / 4
					}
					most += time.Second + 50*time.Millisecond // the pause of the retry policy, and of the reconnection
					if waited := time.Since(before); waited > most {
						t.Errorf("got an answer after %v, want one after %v at most", waited, most)
					}
					w.States.Want(t, connected, suspended, reconnected)
				})
			})
		}
	}
}
