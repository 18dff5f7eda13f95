package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// The owner passes the news on, for instance to a recipe that compares zxids of two sessions.
func TestARestartIsCountedWhenTheOwnerHearsOfIt(t *testing.T) {
	var s *whole
	var counted []int
	events := (&ownerLog{}).hear()
	events.Restarted = func(string, int64, int64) { counted = append(counted, s.EnsembleGeneration()) }
	cfg := unconnectedConfig()
	cfg.EnsembleGeneration = 3
	s = newWhole(cfg, events)
	s.onRestarted("zk:1", 9, 5)
	s.onRestarted("zk:1", 7, 2)
	if want := []int{4, 5}; !slices.Equal(counted, want) {
		t.Errorf("got %v restarts when the owner heard of them, want %v", counted, want)
	}
}

// configOf is of a session at a server.
func configOf(server *zktest.Server) Config {
	cfg := unconnectedConfig()
	cfg.Transport.Dial = server.DialContext
	cfg.Transport.Route = transport.NewRoute(func(context.Context) []string { return []string{"zk:2181"} }, nil)
	cfg.Transport.SessionTimeout, cfg.Transport.ConnectionTimeout, cfg.Transport.MaxFrame = time.Minute, time.Minute, 1<<20
	cfg.MaxRequest = 1 << 20
	return cfg
}

// A session that has a connection again lets its users in, who may ask for something at that moment.
func TestWhatAReconnectionLetsInComesBehindTheRemovalsThatWereLeft(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		if err := server.Create("/left", nil); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		server.Observe(func(r zktest.Request) {
			mu.Lock()
			defer mu.Unlock()
			if r.Conn == 2 {
				order = append(order, r.Op.String()+" "+r.Path)
			}
		})
		var s *Session
		attached := 0
		events := (&ownerLog{}).hear()
		events.Attached = func(string) {
			mu.Lock()
			attached++
			mu.Unlock()
			s.WatchData("/asked", func() {})
		}
		events.Detached, events.Over = func(error) {}, func() {} // from two goroutines
		owner := New(configOf(server), events)
		s = owner.Session()
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		closing := make(chan struct{})
		defer owner.Close(time.Second)
		defer close(closing)
		go owner.Run(closing)
		synctest.Wait()
		server.DropRequest(zktest.Match{Op: zktest.OpDelete})
		s.Remove("/left")
		time.Sleep(time.Second)
		mu.Lock()
		defer mu.Unlock()
		removal, watch := slices.Index(order, "delete /left"), slices.Index(order, "getData /asked")
		if attached != 2 || removal < 0 || watch < removal {
			t.Errorf("got requests %q after %d attachments, want the removal ahead of the watch, after 2", order, attached)
		}
	})
}

// The connection outlasts the session until the owner closes it. A call that fails must not be done on it all the same.
func TestASessionThatIsOverSendsNothing(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		events := (&ownerLog{}).hear()
		events.Attached, events.Over = func(string) {}, func() {} // from two goroutines
		owner := New(configOf(server), events)
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		defer owner.Close(time.Second)
		synctest.Wait()
		owner.end(session.ErrClosed, cause.ClientClosed)
		_, err := owner.Session().Create(t.Context(), &Creation{Dir: "/", Name: "late", Mode: session.Persistent})
		synctest.Wait()
		if !errors.Is(err, session.ErrClosed) || server.Exists("/late") {
			t.Errorf("got error %v and node %t, want %v and none", err, server.Exists("/late"), session.ErrClosed)
		}
	})
}

// The connection may end before the session is attached.
func TestOnlyAShorterTimeoutOfAHandshakeWakesTheClock(t *testing.T) {
	s, _ := unconnected()
	now := s.clock.Now()
	s.onAttached(attachedAt(now))
	for i, want := range []int{0, 1} {
		for range len(s.wake) {
			<-s.wake
		}
		s.onGranted(oneTimeout>>i, now)
		if got := len(s.wake); got != want {
			t.Errorf("a timeout of %v after one of %v: got %d wakes, want %d", oneTimeout>>i, oneTimeout, got, want)
		}
	}
}

func TestASessionEndsYoungUntilItsTimeoutHasPassed(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		s, _ := unconnected()
		s.onAttached(attachedAt(s.clock.Now()))
		time.Sleep(oneTimeout - 1)
		for _, want := range []bool{true, false} {
			if young, timeout := s.EndedYoung(); young != want || timeout != oneTimeout {
				t.Errorf("got %t after the timeout of %v, want %t", young, timeout, want)
			}
			time.Sleep(time.Nanosecond)
		}
	})
}
