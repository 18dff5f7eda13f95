//go:build unix

package integration_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// Others create in the tree all the time, at the root and further down, and the server is killed in the middle.
func TestATreeIsDeletedWhileOthersCreateInIt(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	client, other := newClient(t, server), newClient(t, server)
	for i := range 40 {
		for j := range 25 {
			if _, _, err := client.Create(t.Context(), fmt.Sprintf("/tree/d%d/n%d", i, j), nil, framework.CreatingParentsIfNeeded()); err != nil {
				t.Fatal(err)
			}
		}
	}
	var group sync.WaitGroup
	var made atomic.Int32
	begun := make(chan struct{})
	creating, stop := context.WithCancel(t.Context())
	for g := range 3 {
		group.Go(func() {
			for i := 0; creating.Err() == nil; i++ {
				path := fmt.Sprintf("/tree/d%d/late/g%d-%d", i%40, g, i)
				if _, _, err := other.Create(creating, path, nil, framework.CreatingParentsIfNeeded()); err == nil && made.Add(1) == 20 {
					close(begun)
				}
			}
		})
	}
	<-begun
	deleted := make(chan error, 1)
	go func() { deleted <- client.Delete(t.Context(), "/tree", -1, framework.DeletingChildrenIfNeeded()) }()
	for had := made.Load(); made.Load() < had+50; { // the deletion is under way
		time.Sleep(time.Millisecond)
	}
	server.Kill()
	server.Restart()
	for had := made.Load(); made.Load() < had+20; {
		time.Sleep(time.Millisecond)
	}
	stop()
	group.Wait()
	if err := <-deleted; err != nil {
		t.Fatalf("%v (%d were created meanwhile)", err, made.Load())
	}
	// What was created after the very last deletion is a new tree.
	if err := client.Delete(t.Context(), "/tree", -1, framework.DeletingChildrenIfNeeded()); err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Error(err)
	}
	if stat, err := client.Exists(t.Context(), "/tree"); err != nil || stat != nil {
		t.Errorf("got %+v, %v, want no node", stat, err)
	}
}

func TestAGuaranteedDeletionOfATreeOutlastsTheServer(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	client := newClient(t, server)
	for i := range 100 {
		if _, _, err := client.Create(t.Context(), fmt.Sprintf("/tree/d%d/n", i), nil, framework.CreatingParentsIfNeeded()); err != nil {
			t.Fatal(err)
		}
	}
	server.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := client.Delete(ctx, "/tree", -1, framework.DeletingChildrenIfNeeded(), framework.Guaranteed()); err == nil {
		t.Error("deleted without a server")
	}
	server.Restart()
	var stat *zk.Stat
	var err error
	if !await.Within(patience, func() bool {
		stat, err = client.Exists(t.Context(), "/tree")
		return err == nil && stat == nil
	}) {
		t.Fatalf("got %+v, %v after %v, want no node", stat, err, patience)
	}
}

func TestOrSetDataOfManyClientsLosesNoNode(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	var group sync.WaitGroup
	var created, set atomic.Int32
	for range 4 {
		client := newClient(t, server)
		group.Go(func() {
			for i := range 50 {
				_, stat, err := client.Create(t.Context(), "/app/settings", []byte("x"), framework.OrSetData(-1), framework.CreatingParentsIfNeeded())
				switch {
				case err != nil:
					t.Error(err)
				case stat.Version == 0:
					created.Add(1)
				default:
					set.Add(1)
				}
				if i%5 == 0 {
					if err := client.Delete(t.Context(), "/app", -1, framework.DeletingChildrenIfNeeded()); err != nil && !errors.Is(err, zk.ErrNoNode) {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	if created.Load() < 10 || set.Load() == 0 || created.Load()+set.Load() != 200 {
		t.Errorf("created %d times, set %d times, want 200 together and both", created.Load(), set.Load())
	}
}

// The ensemble's members change their addresses, as far as the client can see: it knows one of them at a time.
func TestAListOfServersMovesASessionFromServerToServer(t *testing.T) {
	ensemble := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{})
	var member atomic.Int32
	client, err := framework.NewClient("", framework.WithSessionTimeout(time.Minute),
		framework.WithServers(func(context.Context) ([]string, error) {
			return []string{ensemble.Members()[member.Load()].Server.Addr()}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := await.Context(t.Context(), t, 5*time.Minute, "the session to move from server to server")
	defer cancel()
	first, err := client.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for next := int32(1); next < 3; next++ {
		old := ensemble.Members()[next-1]
		awaitServer(ctx, t, client, old) // again, if the ensemble has lost its leader meanwhile
		member.Store(next)
		old.Kill()
		awaitServer(ctx, t, client, ensemble.Members()[next])
		old.Server.Restart()
	}
	if now, err := client.Session(ctx); now != first {
		t.Errorf("got session %v, %v, want %v", now, err, first)
	}
}

// awaitServer waits until a client is connected to a server.
func awaitServer(ctx context.Context, t *testing.T, client *framework.Client, want *zookeeper.Member) {
	t.Helper()
	for ; client.Server() != want.Server.Addr(); time.Sleep(20 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("connected to %q, want %q: %v", client.Server(), want.Server.Addr(), context.Cause(ctx))
		}
	}
}
