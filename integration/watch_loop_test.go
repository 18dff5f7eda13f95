//go:build unix

package integration_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// newest keeps the newest view of a loop until ctx ends.
type newest struct {
	mu    sync.Mutex
	view  framework.View
	count int
	err   error
	ended chan struct{}
}

func follow(views iter.Seq2[framework.View, error]) *newest {
	n := &newest{ended: make(chan struct{})}
	go func() {
		defer close(n.ended)
		for view, err := range views {
			n.mu.Lock()
			if n.err = err; err == nil {
				n.view = view
				n.count++
			}
			n.mu.Unlock()
		}
	}()
	return n
}

func (n *newest) await(t *testing.T, what string, ok func(view framework.View) bool) {
	t.Helper()
	var view framework.View
	var err error
	var done bool
	late := !await.Within(patience, func() bool {
		n.mu.Lock()
		view, err = n.view, n.err
		n.mu.Unlock()
		done = ok(view)
		return done || err != nil
	})
	switch {
	case late:
		await.Fatalf(t, "%s: got %+v", what, view)
	case !done:
		t.Fatalf("got %+v, %v, want %s", view, err, what)
	}
}

// Another client changes a node and its children, and creates both again, while the server is killed and sessions end.
func TestWatchLoopsEndUpWithTheNewestViewWhateverHappens(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	short := framework.WithSessionTimeout(10 * time.Second)
	client, other := newClient(t, server, short), newClient(t, server, short)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	data, children := follow(client.Watch(ctx, "/watched")), follow(client.WatchChildren(ctx, "/watched"))
	gone := func(view framework.View) bool { return view.Status == framework.StatusGone }
	for round := range 3 {
		data.await(t, "no node", gone)
		children.await(t, "no node", gone)
		for i := range 200 {
			if _, _, err := other.Create(t.Context(), "/watched", fmt.Append(nil, i), framework.OrSetData(-1)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := other.Create(t.Context(), fmt.Sprintf("/watched/n%d", i), nil, framework.OrSetData(-1)); err != nil {
				t.Fatal(err)
			}
			switch {
			case i == 100 && round == 1:
				server.Kill()
				server.Restart()
			case i == 100 && round == 2: // longer than the session timeout of 10 s
				server.Freeze()
				time.Sleep(12 * time.Second)
				server.Unfreeze()
			}
		}
		data.await(t, "data 199", func(view framework.View) bool { return string(view.Data) == "199" })
		children.await(t, "200 children", func(view framework.View) bool { return len(view.Children) == 200 })
		if err := other.Delete(t.Context(), "/watched", -1, framework.DeletingChildrenIfNeeded()); err != nil {
			t.Fatal(err)
		}
	}
	data.await(t, "no node", gone)
	children.await(t, "no node", gone)
	awaitWatches(t, server, "1") // both loops wait for the same node
	cancel()
	for _, n := range []*newest{data, children} {
		<-n.ended
		if !errors.Is(n.err, context.Canceled) {
			t.Errorf("got %v, want the end of the context", n.err)
		}
		t.Logf("%d views", n.count)
	}
	awaitWatches(t, server, "0")
}

// awaitWatches waits until a server has so many watches. A connection that was lost keeps its own there for a moment.
func awaitWatches(t *testing.T, server *zookeeper.Server, want string) {
	t.Helper()
	var got string
	if !await.Within(patience, func() bool {
		got = server.Mntr()["zk_watch_count"]
		return got == want
	}) {
		t.Fatalf("the server has %s watches after %v, want %s", got, patience, want)
	}
}
