package discovery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
)

func TestACacheFollowsTheInstancesOfItsService(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		other, _ := newClient(t, server)
		c := follow(t, client)
		heard := subscribe(c)
		heard.want(t, "synced") // a service that does not exist
		wantInstances(t, c)
		a := register(t, other, order("a", 80))
		register(t, other, order("b", 80))
		register(t, other, discovery.ServiceInstance{Name: "bills", ID: "c"})
		heard.want(t, "created a:80", "created b:80")
		wantInstances(t, c, "a:80", "b:80")
		if err := a.Update(t.Context(), order("a", 81)); err != nil {
			t.Error(err)
		}
		if err := c.Sync(t.Context()); err != nil {
			t.Error(err)
		}
		if got := briefs(slices.Collect(c.Instances())); !slices.Equal(got, []string{"a:81", "b:80"}) {
			t.Errorf("after Sync: got %v, want a:81 and b:80", got)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		heard.want(t, "changed a:80 a:81", "deleted a:81")
		wantInstances(t, c, "b:80")
		if stats := c.Stats(); stats.Nodes != 2 || c.Err() != nil || !c.Synced() {
			t.Errorf("got %+v, Err %v, Synced %t, want 2 nodes, none, true", stats, c.Err(), c.Synced())
		}
	})
}

// It has all that an instance has, and what a reader stops at ends the loop.
func TestACacheYieldsInstancesWhole(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeService(t, server)
		for _, id := range []string{"a", "b"} {
			i := written[0].instance
			i.ID = id
			makeNode(t, server, orders+"/"+id, data(t, i))
		}
		client, _ := newClient(t, server)
		var got []discovery.ServiceInstance
		for i := range follow(t, client).Instances() {
			got = append(got, i)
			break
		}
		want := written[0].instance
		want.ID = "a"
		if len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("got %+v, want %+v alone", got, want)
		}
	})
}

func TestACacheDecodesANodeOnceForAllReadersAndSubscribers(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeService(t, server)
		makeNode(t, server, orders+"/a", data(t, order("a", 80)))
		client, _ := newClient(t, server)
		c := follow(t, client)
		ports := map[*int]bool{}
		see := func(i discovery.ServiceInstance) {
			if i.Port != nil {
				ports[i.Port] = true
			}
		}
		c.OnEvent(func(event discovery.Event) { see(event.New) })
		synctest.Wait()
		for range 3 {
			for i := range c.Instances() {
				see(i)
			}
		}
		if len(ports) != 1 {
			t.Errorf("got %d copies of an instance, want one", len(ports))
		}
	})
}

func TestWhatIsNoInstanceIsKeptApart(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeService(t, server)
		makeNode(t, server, orders+"/a", []byte("old"))
		makeNode(t, server, orders+"/b", data(t, order("b", 80)))
		client, _ := newClient(t, server)
		c := follow(t, client)
		heard := subscribe(c)
		heard.want(t, "created b:80", "synced")
		wantBad := func(want ...string) {
			t.Helper()
			var got []string
			for node, err := range c.Bad() {
				got = append(got, node)
				if wantTexts(t, err, `"/services/orders/`+node+`"`); !errors.Is(err, discovery.ErrBadInstance) {
					t.Errorf("%s: got %v, want ErrBadInstance", node, err)
				}
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("got the bad nodes %v, want %v", got, want)
			}
		}
		wantBad("a")
		setNode(t, server, orders+"/a", []byte("still old"))
		heard.want(t)
		setNode(t, server, orders+"/b", []byte("{"))
		heard.want(t, "deleted b:80")
		wantInstances(t, c)
		wantBad("a", "b")
		deleteNode(t, server, orders+"/a")
		heard.want(t)
		wantBad("b")
		setNode(t, server, orders+"/b", data(t, order("b", 81)))
		heard.want(t, "created b:81")
		wantBad()
		wantInstances(t, c, "b:81")
	})
}

// The data of the service's node are no instance, whatever they are.
func TestTheNodeOfAServiceIsNoInstance(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, base, nil)
		makeNode(t, server, orders, data(t, order("a", 80)))
		client, _ := newClient(t, server)
		c := follow(t, client)
		heard := subscribe(c)
		heard.want(t, "synced")
		setNode(t, server, orders, []byte("{"))
		heard.want(t)
		makeNode(t, server, orders+"/b", data(t, order("b", 80)))
		makeNode(t, server, orders+"/b/c", data(t, order("c", 80)))
		heard.want(t, "created b:80")
		if bad := c.Bad(); len(bad) != 0 {
			t.Errorf("got the bad nodes %v, want none", bad)
		}
	})
}

func TestACacheKeepsWhatItHasDuringAnOutageAndReportsTheDifferences(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		other, _ := newClient(t, server)
		a := register(t, other, order("a", 80))
		register(t, other, order("b", 80))
		c := follow(t, client)
		heard := subscribe(c)
		heard.want(t, "created a:80", "created b:80", "synced")
		link.Cut()
		heard.want(t, "stale")
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		register(t, other, order("c", 80))
		wantInstances(t, c, "a:80", "b:80")
		if c.Synced() || c.Err() != nil {
			t.Errorf("during the outage: got Synced %t, Err %v, want false, none", c.Synced(), c.Err())
		}
		link.Heal()
		time.Sleep(sessionTimeout)
		heard.want(t, "deleted a:80", "created c:80", "synced")
	})
}

// The service ends or is cut off: its clients are to know soon.
func TestAnInstanceWhoseProcessIsCutOffGoesWithinASessionTimeoutAndTwoTicks(t *testing.T) {
	const tick = 2 * time.Second
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		other, link := newClient(t, server)
		register(t, other, order("a", 80))
		heard := subscribe(follow(t, client))
		heard.want(t, "created a:80", "synced")
		link.Cut()
		time.Sleep(sessionTimeout / 2)
		heard.want(t)
		time.Sleep(sessionTimeout/2 + 2*tick)
		heard.want(t, "deleted a:80")
	}, zktest.WithTickTime(tick))
}

func TestACacheEndsItsLoopsAndFunctionsWithClose(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeService(t, server)
		makeNode(t, server, orders+"/a", data(t, order("a", 80)))
		client, _ := newClient(t, server)
		c := discovery.NewServiceDiscovery(client, base).NewServiceCache("orders")
		if err := c.Err(); !errors.Is(err, cache.ErrNotStarted) {
			t.Errorf("before Start: got Err %v, want ErrNotStarted", err)
		}
		heard := subscribe(c)
		var kinds []cache.Kind
		ended := make(chan error)
		go func() {
			for event, err := range c.Events(t.Context()) {
				if err != nil {
					ended <- err
					return
				}
				kinds = append(kinds, event.Kind)
			}
		}()
		if err := c.Start(t.Context()); err != nil {
			t.Error(err)
		}
		heard.want(t, "created a:80", "synced")
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, cache.ErrClosed) || !slices.Equal(kinds, []cache.Kind{cache.Created, cache.Synced}) {
			t.Errorf("the loop: got %v, then %v, want created, synced, then ErrClosed", kinds, err)
		}
		setNode(t, server, orders+"/a", data(t, order("a", 81)))
		heard.want(t)
		wantInstances(t, c)
		if err := c.Start(t.Context()); !errors.Is(err, cache.ErrClosed) || !errors.Is(c.Err(), cache.ErrClosed) {
			t.Errorf("after Close: got Start %v, Err %v, want ErrClosed", err, c.Err())
		}
	})
}

func TestTheLoopOverEventsEndsWithItsContextAndItsBreak(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeService(t, server)
		makeNode(t, server, orders+"/a", data(t, order("a", 80)))
		client, _ := newClient(t, server)
		c := follow(t, client)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		rounds := 0
		var err error
		for _, err = range c.Events(ctx) {
			rounds++
			cancel()
		}
		if rounds != 2 || !errors.Is(err, context.Canceled) {
			t.Errorf("got %d rounds, the last with %v, want 2 and Canceled", rounds, err)
		}
		for range c.Events(t.Context()) {
			break
		}
	})
}

func TestOnEventRefusesANilFunction(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("got no panic")
		}
	}()
	discovery.NewServiceDiscovery(&framework.Client{}, base).NewServiceCache("orders").OnEvent(nil)
}

func TestAnInstanceThatStaysBadIsLoggedOnceHoweverOftenItIsRead(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeService(t, server)
		makeNode(t, server, orders+"/a", []byte("{"))
		var log bytes.Buffer
		client, link := newClient(t, server, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		c := follow(t, client)
		for range 3 {
			if n := len(slices.Collect(c.Instances())); n != 0 {
				t.Errorf("got %d instances, want none", n)
			}
			link.Reset()
			time.Sleep(sessionTimeout)
		}
		synctest.Wait()
		if n := strings.Count(log.String(), "cannot be decoded"); n != 1 {
			t.Errorf("got %d lines, want 1:\n%s", n, log.String())
		}
	})
}

func TestAServiceWhoseListingIsTooLongIsNotSyncedUntilItFits(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeService(t, server)
		makeNode(t, server, orders+"/a", data(t, order("a", 80)))
		client, link := newClient(t, server, framework.WithMaxResponse(4<<10))
		c := follow(t, client)
		heard := subscribe(c)
		heard.want(t, "created a:80", "synced")
		link.Cut()
		makeNode(t, server, orders+"/b", data(t, order("b", 80)))
		long := func(do func(path string)) {
			for i := range 90 {
				do(fmt.Sprintf("%s/%0100d", orders, i))
			}
		}
		long(func(path string) { makeNode(t, server, path, nil) })
		link.Heal()
		time.Sleep(sessionTimeout)
		heard.want(t, "stale")
		if err := c.Sync(t.Context()); !errors.Is(err, framework.ErrTooLarge) || !errors.Is(c.Err(), framework.ErrTooLarge) {
			t.Errorf("got Sync %v, Err %v, want ErrTooLarge", err, c.Err())
		}
		wantInstances(t, c, "a:80")
		long(func(path string) { deleteNode(t, server, path) })
		time.Sleep(time.Minute)
		heard.want(t, "created b:80", "synced")
		wantInstances(t, c, "a:80", "b:80")
	})
}
