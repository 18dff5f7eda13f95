package survey

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// wantHead compares what ReadHead says with what Read does.
func wantHead(t *testing.T, client *framework.Client, path string) Head {
	t.Helper()
	head, err := ReadHead(t.Context(), client, path)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := Read(t.Context(), client, path)
	if err != nil {
		t.Fatal(err)
	}
	want := Head{Kind: lock.Kind, Holders: len(lock.Holders()), Waiting: lock.Waiting()}
	if in := lock.Holders(); len(in) > 0 {
		want.Who, want.Since = in[0].Who, in[0].Since
	}
	for _, c := range lock.Contenders {
		if !c.In() && c.State != Next {
			want.Oldest = c.Since
			break
		}
	}
	if head != want {
		t.Errorf("%s: got %+v, want as Read says %+v", path, head, want)
	}
	return head
}

// Queues of any names: the head is what the whole says.
func TestHeadAgreesWithTheWholeLock(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client := dial(t, server)
		random := rand.New(rand.NewPCG(1, 2))
		markers := map[string][]string{"mutex": {"lock-"}, "rw": {"__READ__", "__WRIT__"}, "latch": {"latch-"}}
		for kind, names := range markers {
			for n := range 40 {
				path := fmt.Sprintf("/%s/%d", kind, n)
				for i := range random.IntN(6) {
					create(t, client, path+"/"+uuid+names[random.IntN(len(names))]+fmt.Sprintf("%010d", i), fmt.Sprint(kind, i))
				}
				if len(server.Children(path)) == 0 {
					continue
				}
				wantHead(t, client, path)
			}
		}
	})
}

func create(t *testing.T, client *framework.Client, path, data string) {
	t.Helper()
	_, _, err := client.Create(t.Context(), path, []byte(data), framework.CreatingParentsIfNeeded(), framework.WithMode(framework.Ephemeral),
		framework.WithACL(zk.WorldACL(zk.PermAll)...))
	if err != nil {
		t.Fatal(err)
	}
}

func TestHeadOfASemaphoreCountsAContenderOnce(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		for i, want := range []Head{{Holders: 1}, {Holders: 2}, {Holders: 2, Waiting: 1}, {Holders: 2, Waiting: 2}, {Holders: 2, Waiting: 3}} {
			client := dial(t, server)
			lock := locks.NewInterProcessSemaphoreV2(client, "/gpu", 2, locks.WithLockData(fmt.Append(nil, "job ", i)))
			if i < 2 {
				if _, err := lock.Acquire(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() { _, _ = lock.Acquire(ctx) }()
				synctest.Wait()
			}
			got := wantHead(t, client, "/gpu")
			if got.Holders != want.Holders || got.Waiting != want.Waiting || got.Who != "job 0" {
				t.Errorf("%d contenders: got %+v, want %d holders and %d waiting behind job 0", i+1, got, want.Holders, want.Waiting)
			}
		}
	})
}

func TestHeadOfALockThatHasGoneIsFree(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		client := dial(t, zktest.New(t))
		got, err := ReadHead(t.Context(), client, "/gone")
		if want := (Head{Kind: "unused"}); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	})
}

func dial(t *testing.T, server *zktest.Server) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("any:2181", framework.WithDialer(server.DialContext))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}
