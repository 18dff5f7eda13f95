package shared_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/shared"
)

func TestSeedIsWrittenOnlyIfThereIsNoNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		wantCount(t, start(t, client, 7), 7)
		wantCount(t, start(t, client, 9), 7)
	})
}

func TestNodeHasFourBytesHighestFirst(t *testing.T) {
	for value, want := range map[int32]string{
		0: "\x00\x00\x00\x00", 1: "\x00\x00\x00\x01", 0x01020304: "\x01\x02\x03\x04", -1: "\xff\xff\xff\xff",
		math.MaxInt32: "\x7f\xff\xff\xff", math.MinInt32: "\x80\x00\x00\x00",
	} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, _ := newClient(t, server)
			count := start(t, client, value)
			data, _ := server.Data(path)
			stat, _ := server.Stat(path)
			if string(data) != want || stat.EphemeralOwner != 0 {
				t.Errorf("%d is %q, want %q, persistent", value, data, want)
			}
			wantCount(t, count, value)
		})
	}
}

func TestBeforeStartThereIsTheSeedAndNothingElse(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := shared.NewSharedCount(client, path, 3)
		if count.Count() != 3 {
			t.Errorf("count is %d", count.Count())
		}
		wantErr(t, count.SetCount(t.Context(), 4), shared.ErrNotStarted)
		if _, err := count.TrySetCount(t.Context(), count.VersionedValue(), 4); !errors.Is(err, shared.ErrNotStarted) {
			t.Errorf("TrySetCount: %v", err)
		}
		wantErr(t, count.Close(), shared.ErrNotStarted)
		if server.Exists(path) {
			t.Error("got a node, want none")
		}
	})
}

func TestStartedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		link.SetLatency(time.Millisecond) // no Start has an answer when the last one begins
		count := shared.NewSharedCount(client, path, 3)
		errs := make(chan error, 5)
		for range 5 {
			go func() { errs <- count.Start(t.Context()) }()
		}
		started := 0
		for range 5 {
			switch err := <-errs; {
			case err == nil:
				started++
			case !errors.Is(err, shared.ErrStarted):
				t.Error(err)
			}
		}
		if started != 1 {
			t.Errorf("started %d times", started)
		}
		wantErr(t, count.Close())
		wantErr(t, count.Start(t.Context()), shared.ErrStarted)
	})
}

func TestStartThatFailedCanBeTriedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := shared.NewSharedCount(client, path, 3)
		wantErr(t, count.Start(cancelled(t)), context.Canceled)
		must(t, count.Start(t.Context()))
		wantErr(t, count.Close())
	})
}

func TestMisuseIsReportedByStart(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		wantErr(t, shared.NewSharedCount(client, "limits", 1).Start(t.Context()), framework.ErrInvalidPath)
		if err := shared.NewSharedCount(nil, path, 1).Start(t.Context()); err == nil {
			t.Error("got no error without a client, want one")
		}
	})
}

func TestForeignNodeIsNoCount(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		if _, _, err := client.Create(t.Context(), path, []byte("12"), framework.CreatingParentsIfNeeded()); err != nil {
			t.Fatal(err)
		}
		wantErr(t, shared.NewSharedCount(client, path, 1).Start(t.Context()), shared.ErrNotACount)
		if data, _ := server.Data(path); string(data) != "12" {
			t.Errorf("it was overwritten: %q", data)
		}
	})
}

func TestSetterSeesItsOwnValueAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		count := start(t, client, 1)
		link.SetLatency(time.Second)
		must(t, count.SetCount(t.Context(), 2))
		if got := count.VersionedValue(); got.Value != 2 || got.Version != 1 {
			t.Errorf("%+v", got)
		}
		must(t, server.SetACL(path, zktest.ACL{Perms: zk.PermWrite, Scheme: "world", ID: "anyone"}))
		link.Reset()
		time.Sleep(sessionTimeout)
		must(t, count.SetCount(t.Context(), 3))
		wantCount(t, count, 3)
		wantErr(t, count.Err(), zk.ErrNoAuth)
	})
}

func TestTrySetCountOfAnOldValueSetsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		old := count.VersionedValue()
		set(t, count, 2)
		set(t, count, 1) // the same number again, which is not the same value
		before := server.Counts()[zktest.OpMulti]
		if ok, err := count.TrySetCount(t.Context(), old, 5); ok || err != nil {
			t.Errorf("TrySetCount: %v, %v", ok, err)
		}
		if server.Counts()[zktest.OpMulti] != before {
			t.Errorf("got %d transactions, want %d: the count knew", server.Counts()[zktest.OpMulti], before)
		}
		if ok, err := count.TrySetCount(t.Context(), count.VersionedValue(), 5); !ok || err != nil {
			t.Errorf("TrySetCount: %v, %v", ok, err)
		}
		wantCount(t, count, 5)
	})
}

// Version and number are those of the node before, and yet it is another value: another client has created a new node.
func TestTrySetCountRefusesTheValueOfANodeThatWasMadeAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		old := count.VersionedValue()
		must(t, server.Delete(path))
		must(t, server.Create(path, bytesOf(1)))
		synctest.Wait()
		if now := count.VersionedValue(); now.Version != old.Version || now.Value != old.Value || now.Zxid <= old.Zxid {
			t.Fatalf("it knows %+v, and knew %+v", now, old)
		}
		if ok, err := count.TrySetCount(t.Context(), old, 5); ok || err != nil {
			t.Errorf("TrySetCount with the value of the old node: %v, %v", ok, err)
		}
		if ok, err := count.TrySetCount(t.Context(), count.VersionedValue(), 5); !ok || err != nil {
			t.Errorf("TrySetCount with that of the new one: %v, %v", ok, err)
		}
	})
}

// Another client sets the value, and the news is still on its way when TrySetCount is asked: the server refuses.
func TestTrySetCountThatComesTooLateReadsTheNewValue(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		other, _ := newClient(t, server)
		mine, theirs := start(t, client, 1), start(t, other, 1)
		link.SetLatency(time.Second)
		previous := mine.VersionedValue()
		set(t, theirs, 2)
		if ok, err := mine.TrySetCount(t.Context(), previous, 3); ok || err != nil {
			t.Errorf("TrySetCount: %v, %v", ok, err)
		}
		if got := mine.VersionedValue(); got.Value != 2 || got.Version != 1 {
			t.Errorf("it has not read the new value, but knows %+v", got)
		}
	})
}

// Many add one each by TrySetCount, over connections that lose answers: no addition is lost or done twice.
func TestTrySetCountNeverTakesItsOwnChangeForAnothers(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		const clients, each = 4, 25
		var known, unknown int32
		var mu sync.Mutex
		var all sync.WaitGroup
		for range clients {
			client, _ := newClient(t, server)
			count := start(t, client, 0)
			all.Go(func() {
				for done := 0; done < each; {
					previous := count.VersionedValue()
					ok, err := count.TrySetCount(t.Context(), previous, previous.Value+1)
					mu.Lock()
					switch {
					case ok:
						known++
						done++
					case errors.Is(err, framework.ErrConnectionLost):
						unknown++
						done++
					case err != nil:
						t.Error(err)
						done = each
					}
					mu.Unlock()
				}
			})
		}
		stop := make(chan struct{})
		go func() {
			for {
				server.DropReply(zktest.Match{Op: zktest.OpMulti, Nth: 7})
				select {
				case <-time.After(5 * time.Millisecond):
				case <-stop:
					return
				}
			}
		}()
		all.Wait()
		close(stop)
		client, _ := newClient(t, server)
		got := start(t, client, 0).Count()
		if got < known || got > known+unknown {
			t.Errorf("the count is %d after %d known and %d unknown additions", got, known, unknown)
		}
	})
}

// The answer to TrySetCount is lost: whether the value was set is not known, and it is not set twice.
func TestTrySetCountWhoseAnswerIsLostSaysSo(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		server.DropReply(zktest.Match{Op: zktest.OpMulti})
		ok, err := count.TrySetCount(t.Context(), count.VersionedValue(), 2)
		if ok || !errors.Is(err, framework.ErrConnectionLost) {
			t.Errorf("TrySetCount: %v, %v", ok, err)
		}
		time.Sleep(time.Second)
		wantCount(t, count, 2)
		if v := count.VersionedValue(); v.Version != 1 {
			t.Errorf("%+v", v)
		}
	})
}

func TestVersionThatHasComeRoundIsNotCompared(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		previous := count.VersionedValue()
		for version, want := range map[int32]error{-1: shared.ErrIllegalVersion, -2: nil} {
			previous.Version = version
			if ok, err := count.TrySetCount(t.Context(), previous, 2); ok || !errors.Is(err, want) {
				t.Errorf("TrySetCount of version %d: %v, %v; want %v", version, ok, err, want)
			}
		}
		wantCount(t, count, 1)
	})
}

func TestCloseEndsTheFollowingAndLeavesTheNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count, other := start(t, client, 1), start(t, client, 1)
		var heard tidings
		count.OnChange(heard.hear)
		for range 2 {
			wantErr(t, count.Close())
		}
		wantErr(t, count.SetCount(t.Context(), 5), shared.ErrNotStarted)
		set(t, other, 2)
		wantCount(t, count, 1)
		heard.want(t)
		if !server.Exists(path) {
			t.Error("got no node, want it kept")
		}
		wantErr(t, other.Close())
		synctest.Wait()
		if n := server.WatchCount(); n != 0 {
			t.Errorf("%d watches are left", n)
		}
	})
}

func TestRefusalsOfTheServerAreReturnedAsTheyAre(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		must(t, server.Delete(path))
		synctest.Wait()
		wantErr(t, count.SetCount(t.Context(), 2), zk.ErrNoNode)
		if _, err := count.TrySetCount(t.Context(), count.VersionedValue(), 2); !errors.Is(err, zk.ErrNoNode) {
			t.Errorf("TrySetCount: %v", err)
		}
	})
}

func TestUnfollowedIsClosedWhileThereIsAnError(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		other, _ := newClient(t, server)
		count := shared.NewSharedCount(client, path, 1)
		want := func(when string, ch <-chan struct{}, want bool) {
			t.Helper()
			synctest.Wait()
			closed := false
			select {
			case <-ch:
				closed = true
			default:
			}
			if closed != want {
				t.Errorf("%s: got closed %t, want %t (Err is %v)", when, closed, want, count.Err())
			}
		}
		want("before Start", count.Unfollowed(), true)
		must(t, count.Start(t.Context()))
		first := count.Unfollowed()
		want("started", first, false)
		expire(t, server, client)
		link.Cut()
		time.Sleep(time.Hour)
		want("in an outage", first, false)
		link.Heal()
		time.Sleep(time.Minute)
		want("after it", first, false)
		for _, perms := range []int32{zk.PermAll &^ zk.PermRead, zk.PermAll} {
			if _, err := other.SetACL(t.Context(), path, zk.WorldACL(perms), -1); err != nil {
				t.Fatal(err)
			}
			if _, err := other.Set(t.Context(), path, bytesOf(perms), -1); err != nil {
				t.Fatal(err)
			}
			link.Reset()
			time.Sleep(time.Second)
			want("after an episode without permission", first, true)
			want("of the present", count.Unfollowed(), perms != zk.PermAll)
		}
		second := count.Unfollowed()
		for range 2 {
			wantErr(t, count.Close())
			want("closed", second, true)
		}
		want("closed, asked again", count.Unfollowed(), true)
	})
}

func TestUnfollowedIsClosedByTheEndOfTheClient(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		ended := count.Unfollowed()
		_ = client.Close()
		synctest.Wait()
		select {
		case <-ended:
		default:
			t.Error("got an open channel, want it closed")
		}
		wantErr(t, count.Err(), framework.ErrClosed)
	})
}
