package shared_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/shared"
)

func bytesOf(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

func TestFollowerSeesWhatOthersSet(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		other, _ := newClient(t, server)
		mine, theirs := start(t, client, 1), start(t, other, 1)
		for n := range int32(10) {
			set(t, theirs, n)
			wantCount(t, mine, n)
		}
	})
}

func TestListenersHearEachValueOnceAndInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		var first, second, late tidings
		count.OnChange(first.hear)
		stop := count.OnChange(second.hear)
		set(t, count, 2)
		stop()
		stop()
		set(t, count, 2) // nothing new
		set(t, count, 3)
		count.OnChange(late.hear)
		set(t, count, 1)
		first.want(t, 2, 3, 1)
		second.want(t, 2)
		late.want(t, 1)
	})
}

// A listener that is slow then hears the newest value, and never an older one after it.
func TestSlowListenerMissesValuesButNotTheLast(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 0)
		var heard tidings
		count.OnChange(func(n int32) {
			heard.hear(n)
			time.Sleep(time.Minute)
		})
		for n := range int32(5) {
			set(t, count, n+1)
		}
		time.Sleep(time.Minute)
		heard.want(t, 1, 5)
		time.Sleep(time.Minute) // Close does not wait for it
	})
}

func TestListenerMaySetTheCountAndAddListeners(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 0)
		var heard, inner tidings
		count.OnChange(func(n int32) {
			heard.hear(n)
			if n == 1 {
				count.OnChange(inner.hear)
				wantErr(t, count.SetCount(t.Context(), 2))
			}
		})
		set(t, count, 1)
		heard.want(t, 1, 2)
		inner.want(t, 2)
	})
}

func TestFollowingGoesOnAfterAReconnection(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		other, _ := newClient(t, server)
		mine, theirs := start(t, client, 1), start(t, other, 1)
		var heard tidings
		mine.OnChange(heard.hear)
		link.Cut()
		set(t, theirs, 2)
		time.Sleep(sessionTimeout / 4)
		wantCount(t, mine, 1)
		link.Heal()
		time.Sleep(sessionTimeout / 4)
		wantCount(t, mine, 2)
		set(t, theirs, 3)
		heard.want(t, 2, 3)
	})
}

func TestFollowingGoesOnInTheNextSession(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		other, _ := newClient(t, server)
		mine, theirs := start(t, client, 1), start(t, other, 1)
		expire(t, server, client)
		set(t, theirs, 2)
		wantCount(t, mine, 2)
		link.Cut() // the outage is longer than the session timeout and the connection timeout
		time.Sleep(time.Minute)
		set(t, theirs, 3)
		wantCount(t, mine, 2)
		link.Heal()
		time.Sleep(time.Minute)
		wantCount(t, mine, 3)
		set(t, theirs, 4)
		wantCount(t, mine, 4)
	})
}

// Without a node the last value stands. A new node is followed, although its versions begin at 0 again.
func TestFollowingGoesOnAfterDeletionAndReCreation(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		count := start(t, client, 1)
		var heard tidings
		count.OnChange(heard.hear)
		set(t, count, 2)
		for n := int32(10); n < 13; n++ {
			must(t, server.Delete(path))
			if n == 12 { // the re-creation is not seen as it happens
				link.Cut()
			}
			time.Sleep(100 * time.Millisecond)
			must(t, server.Create(path, bytesOf(n)))
			link.Heal()
			time.Sleep(time.Second)
			wantCount(t, count, n)
		}
		heard.want(t, 2, 10, 11, 12)
		set(t, count, 20)
		wantCount(t, count, 20)
	})
}

func TestACountWhoseNodeHoldsNoNumberIsNotFollowed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		var heard tidings
		count.OnChange(heard.hear)
		for _, data := range []string{"", "123", "12345"} {
			unfollowed := count.Unfollowed()
			must(t, server.SetData(path, []byte(data)))
			wantCount(t, count, 1)
			select {
			case <-unfollowed:
			default:
				t.Errorf("%d bytes: got an open channel of Unfollowed, want it closed", len(data))
			}
			for _, err := range []error{count.Err(), count.Confirm(t.Context())} {
				if !errors.Is(err, shared.ErrNotACount) || !strings.Contains(err.Error(), path) {
					t.Errorf("%d bytes: got the error %v, want %v with the path", len(data), err, shared.ErrNotACount)
				}
			}
		}
		must(t, server.SetData(path, bytesOf(8)))
		wantCount(t, count, 8)
		if err := count.Confirm(t.Context()); err != nil {
			t.Errorf("a number again: got %v, want no error", err)
		}
		heard.want(t, 8)
	})
}

func TestFollowingEndsWithTheClient(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		must(t, server.SetData(path, nil))
		synctest.Wait()
		wantErr(t, client.Close())
		synctest.Wait()
		wantErr(t, count.Err(), framework.ErrClosed) // not ErrNotACount any more
		must(t, count.Close())
		wantCount(t, count, 1)
	})
}

// A count that does not change costs the renewals of the session. Besides, the node is read when the following has
// lasted for one session timeout, two, four and so on.
func TestFollowingAsksForLittle(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		other, _ := newClient(t, server)
		start(t, client, 1)
		gone := start(t, other, 1)
		quiet := func(what string) {
			t.Helper()
			synctest.Wait()
			before := server.Counts()
			time.Sleep(time.Hour)
			for op, n := range server.Counts() {
				most := 0
				if op == zktest.OpGetData || op == zktest.OpExists { // 64 times ten seconds fit into an hour five times
					most = 2 * (7 + 5)
				}
				if op != zktest.OpSync && op != zktest.OpPing && n-before[op] > most {
					t.Errorf("%s: %d requests %v in an hour, want at most %d", what, n-before[op], op, most)
				}
			}
		}
		quiet("a count")
		must(t, server.SetData(path, []byte("foreign")))
		quiet("foreign data")
		must(t, server.Delete(path))
		quiet("no node")
		wantErr(t, gone.Close())
	})
}

// One change is one event and one read for each client that follows.
func TestChangeCostsOneReadForEachFollower(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		other, _ := newClient(t, server)
		first, second := start(t, client, 1), start(t, client, 1) // share one watch
		third := start(t, other, 1)
		before := server.Counts()[zktest.OpGetData]
		set(t, first, 2)
		wantCount(t, second, 2)
		wantCount(t, third, 2)
		if n := server.Counts()[zktest.OpGetData] - before; n != 2 {
			t.Errorf("%d reads for two clients", n)
		}
	})
}

func TestErrSaysWhyTheNodeIsNotFollowed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		other, _ := newClient(t, server)
		wantErr := func(count *shared.SharedCount, want error) {
			t.Helper()
			synctest.Wait()
			if err := count.Err(); !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("Err is %v, want %v", err, want)
			}
		}
		count := shared.NewSharedCount(client, path, 1)
		wantErr(count, shared.ErrNotStarted)
		must(t, count.Start(t.Context()))
		wantErr(count, nil)

		unreadable := zk.WorldACL(zk.PermAll &^ zk.PermRead)
		if _, err := other.SetACL(t.Context(), path, unreadable, -1); err != nil {
			t.Fatal(err)
		}
		must(t, server.SetData(path, bytesOf(2)))
		link.Reset() // servers do not report a change to a client that may not read it; the next connection reads
		time.Sleep(time.Second)
		wantErr(count, zk.ErrNoAuth)
		wantCount(t, count, 1)

		if _, err := other.SetACL(t.Context(), path, zk.WorldACL(zk.PermAll), -1); err != nil {
			t.Fatal(err)
		}
		must(t, server.SetData(path, bytesOf(3)))
		link.Reset()
		time.Sleep(time.Second)
		wantErr(count, nil)
		wantCount(t, count, 3)

		closed := start(t, other, 1)
		_ = other.Close()
		wantErr(closed, framework.ErrClosed)
		must(t, count.Close())
		wantErr(count, shared.ErrNotStarted)
	})
}
