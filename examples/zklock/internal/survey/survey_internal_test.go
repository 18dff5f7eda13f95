package survey

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

const (
	uuid = "_c_ba785fd9-44cb-4a14-8cfd-2b3b5c2badb3-"
	hex  = "0123456789abcdef0123456789abcdef"
)

func TestNamesTellKindNumberAndLibrary(t *testing.T) {
	for name, want := range map[string]Name{
		uuid + "lock-0000000012":           {Mutex, 12, "curator"},
		"lock-0000000012":                  {Mutex, 12, ""},
		uuid + "__READ__0000000003":        {Reader, 3, "curator"},
		uuid + "__WRIT__0000000003":        {Writer, 3, "curator"},
		uuid + "latch-0000000003":          {Latch, 3, "curator"},
		uuid + "lease-2147483647":          {Lease, 2147483647, "curator"},
		"_c_" + hex + "-lock-0000000003":   {Mutex, 3, "zk.Lock"},
		hex + "__lock__0000000003":         {KazooLock, 3, "kazoo"},
		hex + "__rlock__-2000000003":       {KazooRead, -2000000003, "kazoo"},
		"_c_" + hex + "-__lock__000000000": {},
		"block-0000000003":                 {},
		"lock-3":                           {},
		"lock-000000000x":                  {},
		"lock-99999999999":                 {},
		"lock-+0000000012":                 {},
		"":                                 {},
	} {
		if got, ok := ParseName(name); got != want || ok != (want.Kind != "") {
			t.Errorf("%q: got %+v, %v, want %+v", name, got, ok, want)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add(uuid + "lock-0000000012")
	f.Add(hex + "__rlock__-2000000003")
	f.Fuzz(func(t *testing.T, name string) {
		if n, ok := ParseName(name); ok && (n.Kind == "" || n.Number < -1<<31 || n.Number >= 1<<31) {
			t.Errorf("%q: %+v", name, n)
		}
	})
}

func TestTextOfANodeMovesNoCursor(t *testing.T) {
	for data, want := range map[string]string{
		"billing at host7": "billing at host7", "": "(no data)", "a\x1b[2J\nb\u202ec": "a?[2J?b?c", "\xff\xfe": "(2 bytes)",
		"__REVOKE__": "(was asked to leave)", "Zoë ✓": "Zoë ✓",
	} {
		if got := Text([]byte(data)); got != want {
			t.Errorf("%q: got %q, want %q", data, got, want)
		}
	}
	if got := Cut("abcdef", 4); got != "abc…" {
		t.Errorf("got %q, want abc…", got)
	}
}

func bubble(t *testing.T, test func(ctx context.Context, t *testing.T, server *zktest.Server, client *framework.Client)) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := framework.NewClient("any:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		test(ctx, t, server, client)
	})
}

func take(ctx context.Context, t *testing.T, all ...locks.Lock) {
	t.Helper()
	for _, lock := range all {
		if _, err := lock.Acquire(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// queue lets all of them wait until ctx ends, one behind the other.
func queue(ctx context.Context, all ...locks.Lock) {
	for _, lock := range all {
		go lock.Acquire(ctx)
		synctest.Wait()
	}
}

func TestReadTellsWhoHoldsAndWaits(t *testing.T) {
	bubble(t, func(ctx context.Context, t *testing.T, server *zktest.Server, client *framework.Client) {
		rw := locks.NewInterProcessReadWriteLock(client, "/rw")
		semaphore := locks.NewInterProcessSemaphoreV2(client, "/semaphore", 2)
		other, err := framework.NewClient("any:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		take(ctx, t, rw.ReadLock(), rw.ReadLock(), semaphore, semaphore)
		queue(ctx, rw.WriteLock(), rw.ReadLock(), semaphore, locks.NewInterProcessSemaphoreV2(other, "/semaphore", 2))
		for range 2 {
			if err := leader.NewLeaderLatch(client, "/latch").Start(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"/k/" + hex + "__lock__0000000000", "/k/" + hex + "__rlock__0000000001"} {
			_ = server.Create("/k", nil) // the second time it is there
			if err := server.Create(name, []byte("kazoo")); err != nil {
				t.Fatal(err)
			}
		}
		for path, want := range map[string]string{
			"/rw":        "read/write: reads reads waits waits to read",
			"/semaphore": "semaphore: holds holds next waits waits", // the first of them is the next one
			"/latch":     "latch: leads waits",
			"/k":         "kazoo: holds waits to read",
		} {
			lock, err := Read(ctx, client, path)
			if err != nil {
				t.Fatal(err)
			}
			words := []string{lock.Kind + ":"}
			for _, c := range lock.Contenders {
				words = append(words, c.State)
			}
			got := strings.Join(words, " ")
			if got != want {
				t.Errorf("%s: got %s, want %s", path, got, want)
			}
			if got, want := lock.Waiting(), strings.Count(want, "waits"); got != want {
				t.Errorf("%s: got %d waiting, want %d", path, got, want)
			}
		}
	})
}

func TestPathWithoutALockIsAnError(t *testing.T) {
	bubble(t, func(ctx context.Context, t *testing.T, server *zktest.Server, client *framework.Client) {
		take(ctx, t, locks.NewInterProcessMutex(client, "/locks/a"))
		for path, want := range map[string]string{"/locks/b": "no such node", "/locks": "none of a lock's", "/": "none of a lock's"} {
			lock, err := Read(ctx, client, path)
			if !errors.Is(err, ErrNoLock) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, %v, want ErrNoLock with %q", path, lock, err, want)
			}
		}
		if err := server.Create("/empty", nil); err != nil {
			t.Fatal(err)
		}
		if lock, err := Read(ctx, client, "/empty"); err != nil || lock.Kind != "unused" || len(lock.Contenders) > 0 {
			t.Errorf("an empty directory: got %+v, %v, want an unused lock", lock, err)
		}
	})
}

func TestWalkFindsLocksOfAllKinds(t *testing.T) {
	bubble(t, func(ctx context.Context, t *testing.T, server *zktest.Server, client *framework.Client) {
		take(ctx, t, locks.NewInterProcessMutex(client, "/locks"), locks.NewInterProcessMutex(client, "/locks/deep/er/a"),
			locks.NewInterProcessSemaphoreV2(client, "/locks/s", 1), locks.NewInterProcessReadWriteLock(client, "/locks/rw").ReadLock())
		if err := server.Create("/locks/stranger", nil); err != nil {
			t.Fatal(err)
		}
		found, err := Walk(ctx, client, "/")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.Path+" "+f.Kind)
		}
		if got, want := strings.Join(got, ", "), "/locks mutex, /locks/deep/er/a mutex, /locks/rw read/write, /locks/s semaphore"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if _, err := Walk(ctx, client, "/nothing"); !errors.Is(err, ErrNoLock) {
			t.Errorf("a path that is not there: got %v, want ErrNoLock", err)
		}
	})
}

// Servers remove the directory of a lock that is not used any more at any moment.
func TestWalkPassesOverADirectoryThatGoesMeanwhile(t *testing.T) {
	bubble(t, func(ctx context.Context, t *testing.T, server *zktest.Server, client *framework.Client) {
		take(ctx, t, locks.NewInterProcessMutex(client, "/locks/b"))
		if err := server.Create("/locks/a", nil); err != nil {
			t.Fatal(err)
		}
		defer server.Observe(func(r zktest.Request) {
			if r.Path == "/locks/a" {
				_ = server.Delete(r.Path)
			}
		})()
		found, err := Walk(ctx, client, "/")
		if err != nil || len(found) != 1 || found[0].Path != "/locks/b" {
			t.Errorf("got %v, %v, want /locks/b alone", found, err)
		}
	})
}
