package framework_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// plant makes a tree below /tree, with so many children at each level, and a sibling whose name begins with the same
// letters.
func (w *env) plant(fans ...int) {
	w.Helper()
	w.Make("/tree")
	w.Make("/tree2")
	level := []string{"/tree"}
	for _, fan := range fans {
		var below []string
		for _, parent := range level {
			for i := range fan {
				path := fmt.Sprintf("%s/n%d", parent, i)
				w.Make(path)
				below = append(below, path)
			}
		}
		level = below
	}
}

func (w *env) wantGone(path string) {
	w.Helper()
	if w.Server.Exists(path) {
		w.Errorf("%s exists, with children %q", path, w.Server.Children(path))
	}
}

func (w *env) deleteTree(ctx context.Context, opts ...framework.DeleteOption) error {
	return w.Client.Delete(ctx, "/tree", -1, append(opts, framework.DeletingChildrenIfNeeded())...)
}

func TestATreeIsDeletedAndNothingBesides(t *testing.T) {
	for name, fans := range map[string][]int{"leaf": nil, "flat": {200}, "deep": {1, 1, 1, 1, 1, 1}, "wide": {10, 10, 3}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.plant(fans...)
				must(t, w.deleteTree(t.Context()))
				w.wantGone("/tree")
				if !w.Server.Exists("/tree2") {
					t.Error("got no /tree2, want the sibling kept")
				}
			})
		})
	}
}

func TestALeafOfATreeCostsOneRequest(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.plant(300)
		must(t, w.deleteTree(t.Context()))
		if lists, deletes := w.Count(zktest.OpGetChildren2), w.Count(zktest.OpDelete); lists != 1 || deletes != 302 {
			t.Errorf("got %d listings and %d deletions, want 1 and 302", lists, deletes)
		}
	})
}

func TestATreeIsDeletedWithAtMostSixtyFourRequestsInFlight(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.plant(300)
		w.Server.DelayReply(zktest.Match{Op: zktest.OpDelete, Nth: 2}, time.Second) // the first is that of /tree
		done := make(chan error, 1)
		go func() { done <- w.deleteTree(t.Context()) }()
		synctest.Wait() // what is in flight has been executed, and not been answered
		if n := w.Count(zktest.OpDelete) - 1; n != 64 {
			t.Errorf("got %d deletions in flight, want 64", n)
		}
		wantErr(t, <-done)
	})
}

func TestATreeInWhichOthersCreateMeanwhileIsDeleted(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.plant(3, 3)
		created := 0
		w.Cleanup(w.Server.Observe(func(q zktest.Request) {
			// Right before a parent goes, it gets a child, and that a child of its own: at the root and further down.
			if q.Op == zktest.OpDelete && created < 20 && (q.Path == "/tree" || q.Path == "/tree/n1") {
				created++
				path := fmt.Sprintf("%s/late%d", q.Path, created)
				w.Make(path)
				w.Make(path + "/later")
			}
		}))
		must(t, w.deleteTree(t.Context()))
		if created != 20 {
			t.Errorf("others have created %d times, want 20", created)
		}
		w.wantGone("/tree")
	})
}

// Another client creates a child whenever the tree is about to be empty.
func TestATreeThatIsNeverEmptyIsDeletedWithGrowingPauses(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.plant(1)
		tries := 0
		w.Cleanup(w.Server.Observe(func(q zktest.Request) {
			if q.Op == zktest.OpDelete && q.Path == "/tree" {
				if tries++; tries < 1000 { // without pauses the test ends all the same
					w.Make(fmt.Sprintf("/tree/late%d", tries))
				}
			}
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wantErr(t, w.deleteTree(ctx), context.DeadlineExceeded)
		if tries < 30 || tries > 150 {
			t.Errorf("got %d tries in a minute, want about one each second", tries)
		}
	})
}

func TestAWrongVersionSavesTheWholeTree(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.plant(2)
		err := w.Client.Delete(t.Context(), "/tree", 7, framework.DeletingChildrenIfNeeded())
		wantErr(t, err, zk.ErrBadVersion)
		if got := w.Server.Children("/tree"); len(got) != 2 {
			t.Errorf("got children %q, want both", got)
		}
		wantErr(t, w.Client.Delete(t.Context(), "/tree", 0, framework.DeletingChildrenIfNeeded()))
	})
}

// The version is right until the children are gone.
func TestATreeWhoseNodeChangesWhileItsChildrenGoKeepsTheNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.plant(2)
		var once sync.Once
		w.Cleanup(w.Server.Observe(func(q zktest.Request) {
			if q.Op == zktest.OpDelete && q.Path != "/tree" {
				once.Do(func() {
					wantErr(t, w.Server.SetData("/tree", []byte("new")))
				})
			}
		}))
		err := w.Client.Delete(t.Context(), "/tree", 0, framework.DeletingChildrenIfNeeded())
		wantErr(t, err, zk.ErrBadVersion)
		w.wantData("/tree", "new")
		if got := w.Server.Children("/tree"); len(got) > 0 {
			t.Errorf("got children %q, want none", got)
		}
	})
}

func TestAMissingTreeIsNoNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		wantErr(t, w.deleteTree(t.Context()), zk.ErrNoNode)
	})
}

func TestWhatTheClientStandsOnIsNoTreeToDelete(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.plant(1)
		w.Make("/tree/n0/x")
		rooted := w.Dial("zk:2181/tree")
		must(t, rooted.BlockUntilConnected(t.Context()))
		tree := framework.DeletingChildrenIfNeeded()
		for name, err := range map[string]error{
			"root":                w.Client.Delete(t.Context(), "/", -1, tree),
			"ZooKeeper's own":     w.Client.Delete(t.Context(), "/zookeeper", -1, tree, framework.Guaranteed()),
			"chroot":              rooted.Delete(t.Context(), "/", -1, tree),
			"relative path":       w.Client.Delete(t.Context(), "/tree/..", -1, tree),
			"namespace of /. ./.": w.Client.UsingNamespace("..").Delete(t.Context(), "/", -1, tree),
		} {
			if !errors.Is(err, framework.ErrInvalidPath) {
				t.Errorf("%s: got %v, want ErrInvalidPath", name, err)
			}
		}
		if n := w.Count(zktest.OpDelete) + w.Count(zktest.OpGetChildren2); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
		wantErr(t, rooted.UsingNamespace("n0").Delete(t.Context(), "/", -1, tree))
		w.wantGone("/tree/n0")
	})
}

func TestARefusalNamesTheNodeOfTheTree(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.plant(2)
		if _, err := w.Client.SetACL(t.Context(), "/tree/n1", zk.WorldACL(zk.PermAdmin), -1); err != nil {
			t.Fatal(err)
		}
		w.Make("/tree/n1/hidden")
		err := w.deleteTree(t.Context(), framework.Guaranteed())
		wantErr(t, err, zk.ErrNoAuth)
		var failed *framework.OpError
		if !errors.As(err, &failed) || failed.Op != "delete" || failed.Path != "/tree" || !strings.Contains(err.Error(), `"/tree/n1"`) {
			t.Errorf("got %v, want an error of the deletion of /tree that names /tree/n1", err)
		}
		w.wantGone("/tree/n0")
		before := w.Count(zktest.OpDelete)
		time.Sleep(time.Minute)
		if n := w.Count(zktest.OpDelete) - before; n != 0 {
			t.Errorf("a refusal was followed by %d deletions in the background", n)
		}
	})
}

func TestATreeIsDeletedAcrossBrokenConnections(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.plant(20, 20)
		// more often than the policy would allow for one request, and not twice among the requests in flight
		for i := range 5 {
			w.Server.DropReply(zktest.Match{Op: zktest.OpDelete, Path: fmt.Sprintf("/tree/n%d/n3", 4*i)})
		}
		must(t, w.deleteTree(t.Context()))
		w.wantGone("/tree")
	}, framework.WithRetryPolicy(retry.NTimes(3, time.Second)))
}

// Whichever of the two deletes a node, and wherever the connection of one breaks: neither fails over what the other has
// done.
func TestATreeIsDeletedByTwoClientsAtATime(t *testing.T) {
	for at := range 60 {
		bubble(t, func(t *testing.T, w *env) {
			w.plant(3, 3)
			w.Link.SetLatency(time.Millisecond)
			link := w.Server.NewLink()
			link.SetLatency(1100 * time.Microsecond)
			other := w.Dial("zk:2181", framework.WithDialer(link.DialContext))
			must(t, other.BlockUntilConnected(t.Context()))
			time.AfterFunc(time.Duration(at)*500*time.Microsecond, w.Link.Reset)
			done := make(chan error, 1)
			go func() { done <- other.Delete(w.Context(), "/tree", -1, framework.DeletingChildrenIfNeeded()) }()
			err := w.deleteTree(t.Context())
			if errors.Is(err, zk.ErrNoNode) && at == 0 {
				err = nil // it has come too late
			}
			if err := errors.Join(err, <-done); err != nil {
				t.Errorf("broken after %d half milliseconds: %v", at, err)
			}
			w.wantGone("/tree")
		})
	}
}

func TestTheDeletionOfATreeEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.plant(100)
		reason := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete, Path: "/tree/n5"})
		done := make(chan error, 1)
		go func() { done <- w.deleteTree(ctx) }()
		synctest.Wait()
		cancel(reason)
		synctest.Wait()
		select {
		case err := <-done:
			wantErr(t, err, reason, context.Canceled)
		default:
			t.Error("got a deletion that goes on after its context ended, want it ended")
		}
		release()
		time.Sleep(time.Minute)
		if !w.Server.Exists("/tree") {
			t.Error("got /tree deleted in the background, want it kept")
		}
	})
}

func TestAGuaranteedDeletionOfATreeGoesOnInTheBackground(t *testing.T) {
	for name, end := range map[string]func(w *env){
		"across a disconnection": func(*env) {},
		"across a session":       func(w *env) { w.Server.ExpireSession(w.Server.Sessions()[0].ID) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.plant(100, 2)
				w.Make("/tree/n5/late")
				ctx, cancel := context.WithCancel(t.Context())
				release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete, Path: "/tree/n5/n0"})
				done := make(chan error, 2)
				go func() { done <- w.deleteTree(ctx, framework.Guaranteed()) }()
				synctest.Wait()
				cancel()
				wantErr(t, <-done, context.Canceled)
				w.Link.Cut()
				release()
				w.Eventually("suspended", func() bool { return w.Client.State() != connected })
				// The same again, while it cannot be done: it is done once.
				wantErr(t, w.deleteTree(ctx, framework.Guaranteed()), context.Canceled)
				end(w)
				w.Link.Heal()
				w.Eventually("the tree is gone", func() bool { return !w.Server.Exists("/tree") })
				w.Make("/tree")
				time.Sleep(time.Hour)
				if !w.Server.Exists("/tree") {
					t.Error("got the new /tree deleted, want it kept")
				}
			})
		})
	}
}

func TestAGuaranteedDeletionOfATreeThatIsRefusedInTheBackgroundIsLogged(t *testing.T) {
	var told []string
	var log strings.Builder
	bubble(t, func(t *testing.T, w *env) {
		w.plant(1)
		if _, err := w.Client.SetACL(t.Context(), "/tree", zk.WorldACL(zk.PermRead|zk.PermAdmin), -1); err != nil {
			t.Fatal(err)
		}
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return w.Client.State() != connected })
		if err := w.deleteTree(w.Within(time.Second), framework.Guaranteed()); err == nil {
			t.Error("got no error without a connection, want one")
		}
		w.Link.Heal()
		time.Sleep(time.Minute)
		wantErr(t, w.Client.Close())
		if len(told) != 1 || told[0] != "/tree" {
			t.Errorf("got failed removals of %q, want /tree", told)
		}
		if got := log.String(); !strings.Contains(got, "could not be removed") {
			t.Errorf("the log has %q", got)
		}
	}, framework.WithTrace(framework.Trace{RemovalFailed: func(path string, _ error) { told = append(told, path) }}),
		framework.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))))
}

func TestCloseEndsTheDeletionOfATreeInTheBackground(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.plant(100)
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return w.Client.State() != connected })
		if err := w.deleteTree(w.Within(time.Second), framework.Guaranteed()); err == nil {
			t.Error("got no error without a connection, want one")
		}
		before := time.Now()
		_ = w.Client.Close()
		if d := time.Since(before); d > 5*time.Second {
			t.Errorf("Close took %v", d)
		}
		wantErr(t, w.deleteTree(t.Context(), framework.Guaranteed()), framework.ErrClosed)
	})
}
