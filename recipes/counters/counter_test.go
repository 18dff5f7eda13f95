package counters_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/counters"
)

// An atomic is what both counters have in common.
type atomic[T int32 | int64] interface {
	Get(ctx context.Context) (T, error)
	Set(ctx context.Context, n T) error
	Add(ctx context.Context, delta T) (before, after T, err error)
}

// wantNumbers sets numbers, checks their bytes, and adds beyond the greatest and the least.
func wantNumbers[T int32 | int64](t *testing.T, server *zktest.Server, c atomic[T], least, most T, bytes map[T]string) {
	t.Helper()
	for n, want := range bytes {
		must(t, c.Set(t.Context(), n))
		data, _ := server.Data(path)
		if got, err := c.Get(t.Context()); fmt.Sprintf("%x", data) != want || got != n || err != nil {
			t.Errorf("%d: got %x, read as %d, %v, want %s", n, data, got, err, want)
		}
	}
	for _, test := range []struct{ before, delta, after T }{{most, 1, least}, {least, -1, most}, {most - 1, 3, least + 1}} {
		must(t, c.Set(t.Context(), test.before))
		if before, after, err := c.Add(t.Context(), test.delta); before != test.before || after != test.after || err != nil {
			t.Errorf("got %d, %d, %v, want %d wrapped to %d", before, after, err, test.before, test.after)
		}
	}
}

// Java's ByteBuffer.putLong and putInt, and its additions.
func TestNumbersHaveTheBytesOfJavaAndWrapAsThere(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		wantNumbers(t, server, counters.NewDistributedAtomicLong(client, path), math.MinInt64, math.MaxInt64, map[int64]string{
			0: "0000000000000000", 1: "0000000000000001", -1: "ffffffffffffffff", 0x0102030405060708: "0102030405060708",
			math.MinInt64: "8000000000000000", math.MaxInt64: "7fffffffffffffff",
		})
		wantNumbers(t, server, counters.NewDistributedAtomicInteger(client, path), math.MinInt32, math.MaxInt32, map[int32]string{
			0: "00000000", -2: "fffffffe", 0x01020304: "01020304", math.MinInt32: "80000000",
		})
	})
}

func TestAddReturnsTheNumbersBeforeAndAfter(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 40)
		l, _ := newLong(t, server)
		wantAdd(t, l, 2, 40, 42)
		wantAdd(t, l, -50, 42, -8)
		wantAdd(t, l, 0, -8, -8)
		wantNumber(t, server, -8)
	})
}

func TestAddMakesAMissingNodeInContainersAndCountsFromZero(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		l, _ := newLong(t, server)
		wantAdd(t, l, 5, 0, 5)
		wantNumber(t, server, 5)
		time.Sleep(time.Hour)
		wantNumber(t, server, 5) // the node itself is no container
		remove(t, server)
		wantRemoved(t, server, "/numbers")
	})
}

// wantRemoved waits until the server has removed an empty container.
func wantRemoved(t *testing.T, server *zktest.Server, container string) {
	t.Helper()
	time.Sleep(2 * time.Minute)
	if server.Exists(container) {
		t.Errorf("got %s kept, want a container, removed without children", container)
	}
}

func TestEmptyDataAndAMissingNodeAreZero(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		l, _ := newLong(t, server)
		if n, err := l.Get(t.Context()); n != 0 || err != nil || server.Exists(path) {
			t.Errorf("missing: got %d, %v, node %v, want 0 and none", n, err, server.Exists(path))
		}
		put(t, server, nil)
		if n, err := l.Get(t.Context()); n != 0 || err != nil {
			t.Errorf("empty: got %d, %v, want 0", n, err)
		}
		if ok, err := l.CompareAndSet(t.Context(), 0, 7); !ok || err != nil {
			t.Errorf("CompareAndSet of 0 with empty data: got %v, %v, want true", ok, err)
		}
		put(t, server, nil)
		wantAdd(t, l, 3, 0, 3)
	})
}

func TestCompareAndSetTriesOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		l, _ := newLong(t, server)
		want := func(what string, old, value int64, want bool) {
			t.Helper()
			if got, err := l.CompareAndSet(t.Context(), old, value); got != want || err != nil {
				t.Errorf("%s: CompareAndSet(%d, %d): got %v, %v, want %v", what, old, value, got, err, want)
			}
		}
		tries := server.CountRequests(write)
		want("missing node", 0, 1, false)
		if server.Exists(path) || tries() > 0 {
			t.Errorf("missing node: got %d writes, made %v, want none", tries(), server.Exists(path))
		}
		number(t, server, 5)
		want("another number", 4, 9, false)
		want("the number", 5, 6, true)
		wantNumber(t, server, 6)
		want("no change", 6, 6, true)
		before(t, server, zktest.OpMulti, func(nth int) {
			switch nth {
			case 1:
				number(t, server, 6)
			case 2:
				remove(t, server)
			default:
				t.Errorf("got write %d, want one for each call", nth)
			}
		})
		want("the same number written between", 6, 7, false)
		want("deleted between", 6, 7, false)
	})
}

func TestSetNeedsNoNodeAndAsksForNoNumber(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		l, _ := newLong(t, server)
		reads := server.Counts()[zktest.OpGetData]
		for _, n := range []int64{7, -3} {
			must(t, l.Set(t.Context(), n))
			wantNumber(t, server, n)
		}
		if n := server.Counts()[zktest.OpGetData] - reads; n != 0 {
			t.Errorf("got %d reads, want none", n)
		}
		server.DropReply(zktest.Match{Op: zktest.OpSetData, Path: path})
		if err := l.Set(t.Context(), 8); err != nil {
			t.Errorf("after a lost answer: got %v, want it repeated", err)
		}
		wantNumber(t, server, 8)
	})
}

func TestSetReplacesTheNumberOfANodeThatIsMadeBetweenItsRequests(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		must(t, server.Create("/numbers", nil))
		l, _ := newLong(t, server)
		before(t, server, zktest.OpCreate2, func(int) { number(t, server, 40) })
		must(t, l.Set(t.Context(), 7))
		wantNumber(t, server, 7)
	})
}

func TestInitializeMakesTheNodeOnce(t *testing.T) {
	for name, opts := range map[string][]framework.Option{"": nil, "in a namespace": {framework.WithNamespace("app")}} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, _ := newClient(t, server, opts...)
			for _, path := range []string{"/top", "/deep/down/there"} {
				l := counters.NewDistributedAtomicLong(client, path)
				for _, want := range []bool{true, false} {
					if ok, err := l.Initialize(t.Context(), 41); ok != want || err != nil {
						t.Errorf("%s %s: got %v, %v, want %v", path, name, ok, err, want)
					}
				}
				wantAdd(t, l, 1, 41, 42)
			}
			must(t, client.Delete(t.Context(), "/deep/down/there", -1))
			space := ""
			if len(opts) > 0 {
				space = "/app"
			}
			wantRemoved(t, server, space+"/deep")
		})
	}
}

func TestOfTwoThatInitializeAtOneMomentOneDoes(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var got [2]string
		var both sync.WaitGroup
		for i := range got {
			client, link := newClient(t, server)
			link.SetLatency(time.Second) // so that each finds neither node nor parent
			both.Go(func() {
				ok, err := counters.NewDistributedAtomicLong(client, "/there/n").Initialize(t.Context(), 41)
				got[i] = fmt.Sprint(ok, " ", err)
			})
		}
		both.Wait()
		if slices.Sort(got[:]); got != [2]string{"false <nil>", "true <nil>"} {
			t.Errorf("got %q, want true once, and no error", got)
		}
	})
}

// Containers came with ZooKeeper 3.5.
func TestInitializeMakesParentsAtAServerWithoutContainers(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		l, _ := newLong(t, server)
		if ok, err := l.Initialize(t.Context(), 3); !ok || err != nil {
			t.Errorf("got %v, %v, want true", ok, err)
		}
		wantAdd(t, l, 1, 3, 4)
	}, zktest.WithVersion("3.4.14"))
}
