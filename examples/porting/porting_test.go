package porting_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/porting"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
)

// connected runs a test in a bubble, with two clients of one server in memory.
func connected(t *testing.T, do func(t *testing.T, a, b *framework.Client)) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		connect := func() *framework.Client {
			client, err := porting.Connect(t.Context(), "any:2181", framework.WithDialer(server.DialContext))
			if err != nil {
				t.Fatal(err)
			}
			return client
		}
		a, b := connect(), connect()
		defer a.Close()
		defer b.Close()
		do(t, a, b)
	})
}

func nothing(context.Context) error { return nil }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func check[T comparable](t *testing.T, what string, got T, err error, want T) {
	t.Helper()
	if err != nil || got != want {
		t.Errorf("%s: got %v, %v, want %v", what, got, err, want)
	}
}

func TestClient(t *testing.T) {
	connected(t, func(t *testing.T, a, _ *framework.Client) {
		names, err := porting.Nodes(t.Context(), a)
		slices.Sort(names)
		if err != nil || len(names) != 3 || !strings.HasPrefix(names[0], "_c_") || names[1] != "host" || names[2] != "port" {
			t.Errorf("got %q, %v", names, err)
		}
	})
}

func TestTree(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var data []string
		var names [][]string
		ended := make(chan error, 2)
		go func() { ended <- porting.Follow(ctx, b, "/t", func(d []byte) { data = append(data, string(d)) }) }()
		go func() { ended <- porting.Names(ctx, b, "/t", func(n []string) { names = append(names, n) }) }()
		for i, path := range []string{"/t", "/t", "/t/x/y"} {
			synctest.Wait()
			created, err := porting.Put(ctx, a, path, []byte{'a' + byte(i)})
			check(t, "put "+path, created, err, i != 1)
		}
		synctest.Wait()
		before := len(names)
		_, err := a.Set(ctx, "/t/x", []byte("new"), -1)
		must(t, err)
		synctest.Wait()
		if len(names) != before {
			t.Errorf("a child's new data: got names %q, want no news", names[before:])
		}
		must(t, porting.Clear(ctx, a, "/t"))
		must(t, porting.Clear(ctx, a, "/t"))
		synctest.Wait()
		if !slices.Equal(data, []string{"", "a", "b", ""}) {
			t.Errorf("got data %q", data)
		}
		if n := len(names); n < 4 || len(names[1]) != 0 || !slices.Equal(names[2], []string{"x"}) || len(names[n-1]) != 0 {
			t.Errorf("got names %q", names)
		}
		stop()
		for range 2 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the end of the context", err)
			}
		}
	})
}

func TestAClientOfAListOfServers(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := porting.Listed(func(context.Context) ([]string, error) { return []string{"zk1", "zk2:2182"}, nil },
			framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		must(t, client.BlockUntilConnected(t.Context()))
		if got := client.Server(); got != "zk1:2181" && got != "zk2:2182" {
			t.Errorf("got server %q", got)
		}
	})
}

func TestMutex(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		ctx, mine, other := t.Context(), porting.NewMutex(a), porting.NewMutex(b)
		must(t, mine.UntilFree(ctx, func(context.Context) error {
			got, err := other.IfFree(ctx, nothing)
			check(t, "ifFree", got, err, false)
			got, err = other.ForTenSeconds(ctx, nothing)
			check(t, "forTenSeconds", got, err, false)
			queue, err := other.Look(ctx)
			check(t, "look", len(queue), err, 1)
			return nil
		}))
		got, err := other.IfFree(ctx, nothing)
		check(t, "ifFree", got, err, true)
		got, err = other.ForTenSeconds(ctx, nothing)
		check(t, "forTenSeconds", got, err, true)
		must(t, mine.Locker(ctx, nothing))
		must(t, mine.Twice(ctx, nothing))
	})
}

func TestLeader(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		mine, other := porting.NewLeader(a, "mine"), porting.NewLeader(b, "other")
		ctx, cancel := context.WithCancel(t.Context())
		_, err := other.Who(ctx)
		if !errors.Is(err, leader.ErrNoLeader) {
			t.Errorf("Leader while none is elected: got %v", err)
		}
		next := make(chan error)
		err = mine.Serve(ctx, func(ctx context.Context) error {
			go func() { next <- other.Once(t.Context(), nothing) }()
			synctest.Wait()
			who, err := other.Who(ctx)
			check(t, "who", who, err, "mine")
			waiting, err := other.Waiting(ctx)
			check(t, "waiting", waiting, err, 1)
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("serve: got %v", err)
		}
		must(t, <-next)
	})
}

func TestLatch(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		var heard []string
		hear := func(what string) func() { return func() { heard = append(heard, what) } }
		mine, other := porting.NewLatch(a, "mine", hear("begin"), hear("end")), porting.NewLatch(b, "other", func() {}, func() {})
		must(t, mine.Start(t.Context()))
		must(t, other.Start(t.Context()))
		var cause error
		led, err := mine.WhenLeading(t.Context(), func(ctx context.Context) error {
			check(t, "other leads", other.Leads(), nil, false)
			must(t, mine.Close())
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil
		})
		check(t, "mine has led", led, err, true)
		if !errors.Is(cause, locks.ErrReleased) {
			t.Errorf("the work of a latch that was closed: got cause %v", cause)
		}
		led, err = mine.WhenLeading(t.Context(), nothing)
		check(t, "mine leads after its end", led, err, false)
		led, err = other.WhenLeading(t.Context(), nothing)
		check(t, "other has led", led, err, true)
		must(t, other.Close())
		synctest.Wait()
		if !slices.Equal(heard, []string{"begin", "end"}) {
			t.Errorf("got calls %q", heard)
		}
	})
}

func TestReadWriteLock(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		ctx, mine, other := t.Context(), porting.NewReadWriteLock(a), porting.NewReadWriteLock(b)
		count := func(want int) porting.Work {
			return func(ctx context.Context) error {
				got, err := other.InQueue(ctx)
				check(t, "inQueue", got, err, want)
				return nil
			}
		}
		must(t, mine.Read(ctx, count(1)))
		must(t, mine.Downgrade(ctx, count(1), func(context.Context) error { return other.Read(ctx, count(2)) }))
		begun := time.Now()
		got, err := mine.Upgrade(ctx)
		check(t, "upgrade", got, err, false)
		if took := time.Since(begun); took > 0 {
			t.Errorf("upgrade took %v", took)
		}
		lease, err := locks.NewInterProcessReadWriteLock(a, "/locks/config").WriteLock().Acquire(ctx)
		must(t, err)
		_, err = a.Transaction(ctx, mine.Guard(lease))
		must(t, err)
		must(t, lease.Release())
	})
}

func TestSemaphore(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		ctx, mine := t.Context(), porting.NewSemaphore(a)
		report, err := mine.One(ctx)
		if err != nil || !strings.HasSuffix(report, "-lease-0000000000 reports at host9") {
			t.Errorf("one: got %q, %v", report, err)
		}
		yes, err := mine.OneForTenSeconds(ctx)
		check(t, "oneForTenSeconds", yes, err, true)
		n, err := mine.Two(ctx)
		check(t, "two", n, err, 2)

		limit := shared.NewSharedCount(b, "/limit", 1)
		must(t, limit.Start(ctx))
		defer limit.Close()
		other := porting.NewSemaphoreWithCount(b, limit)
		yes, err = other.TwoIfFree(ctx)
		check(t, "twoIfFree of one", yes, err, false)
		now, err := porting.Raise(ctx, a, 1)
		check(t, "raise", now, err, 2)
		synctest.Wait()
		yes, err = other.TwoIfFree(ctx)
		check(t, "twoIfFree of two", yes, err, true)
		must(t, porting.SetCount(ctx, a, 7))
		synctest.Wait()
		check(t, "count", limit.Count(), nil, 7)
	})
}

func TestAtomic(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		ctx := t.Context()
		for want, client := range []*framework.Client{a, b, a} {
			n, err := porting.Hit(ctx, client)
			check(t, "hit", n, err, int64(want+1))
		}
		yes, err := porting.Correct(ctx, a, 0, 7)
		check(t, "correct 0", yes, err, true)
		yes, err = porting.Correct(ctx, b, 0, 8)
		check(t, "correct 0, which is 7", yes, err, false)
		must(t, porting.Reset(ctx, b))
		yes, err = porting.Correct(ctx, a, 0, 9)
		check(t, "correct 0 after a reset", yes, err, true)
		mine, err := porting.Number(ctx, a, 150)
		check(t, "numbers of one", mine[149], err, 149)
		theirs, err := porting.Number(ctx, b, 1)
		check(t, "numbers of another, behind two blocks", theirs[0], err, 200)
	})
}

func TestSemaphoreMutex(t *testing.T) {
	connected(t, func(t *testing.T, a, _ *framework.Client) {
		mine := porting.NewSemaphoreMutex(a)
		done, err := mine.HandedOn(t.Context(), nothing)
		must(t, err)
		must(t, <-done)
		got, err := mine.Twice(t.Context())
		check(t, "twice", got, err, false)
	})
}

func TestMultiLock(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		ctx := t.Context()
		got, err := porting.Transfer(ctx, porting.MultiLockOfPaths(a), func(context.Context) error {
			begun := time.Now()
			got, err := porting.Transfer(ctx, porting.MultiLockOfLocks(b), nothing)
			check(t, "the other's transfer", got, err, false)
			check(t, "its wait", time.Since(begun), nil, 10*time.Second)
			return nil
		})
		check(t, "transfer", got, err, true)
	})
}

func TestRevocation(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		if err := porting.Ask(t.Context(), b); !errors.Is(err, zk.ErrNoNode) { // there is no lock, as in Java
			t.Errorf("got %v, want zk.ErrNoNode", err)
		}
		must(t, porting.HoldUntilAsked(t.Context(), a, func(ctx context.Context) error {
			return porting.Ask(ctx, b)
		}))
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("no more")
		cancel(why)
		if err := porting.HoldUntilAsked(ctx, a, nothing); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	})
}

// Every method of the Java side has its Go, which says so.
func TestEveryJavaMethodHasItsGo(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	classes, err := filepath.Glob("java/*.java")
	if err != nil || len(classes) == 0 {
		t.Fatal("no Java: ", err)
	}
	for _, file := range classes {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		class := strings.TrimSuffix(filepath.Base(file), ".java")
		for _, method := range regexp.MustCompile(`(?m)^    (?:static )?[\w<>\[\]]+ (\w+)\(.*\{$`).FindAllSubmatch(text, -1) {
			if want := " is " + class + "." + string(method[1]); !strings.Contains(source.String(), want) {
				t.Errorf("no Go function%s", want)
			}
		}
	}
}
