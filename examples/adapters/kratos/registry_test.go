package kratosregistry_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-kratos/kratos/v2/registry"

	kratosregistry "github.com/gocurator/curator/examples/adapters/kratos"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestServicesOfThisAdapterAndOfThePresentOneFindEachOther(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		present, ours := newPresent(t, zk.Dial), services(t, zk.DialContext)
		register(t, ours, hello("new"))
		present.register(hello("old"))
		wantServices(t, ours, "new old")
		for _, found := range present.find("hello") {
			if want := hello(found.ID); !want.Equal(found) {
				t.Errorf("the present adapter finds %+v, want %+v", found, want)
			}
		}
		if got := ids(present.find("hello")); got != "new old" && got != "old new" {
			t.Errorf("the present adapter finds %q, want both", got)
		}
		got, _ := zk.Data("/microservices/hello/new")
		old, _ := zk.Data("/microservices/hello/old")
		if want := strings.Replace(string(old), "old", "new", 1); string(got) != want {
			t.Errorf("got the data %s, want %s", got, want)
		}
		deregister(t, ours, hello("new"))
		present.deregister(hello("old"))
		wantServices(t, ours, "")
		time.Sleep(time.Minute)
		if dir, there := zk.Stat("/microservices/hello"); !there || dir.EphemeralOwner != 0 {
			t.Errorf("got the directory %+v, want a permanent one: the present adapter's watches need it", dir)
		}
		if got := zk.WatchCount(); got != 0 {
			t.Errorf("got %d watches at the server, want none", got)
		}
	})
}

func TestServiceThatWasDeregisteredComesBackInTheNextSessionOnlyWithThePresentAdapter(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		present, ours := newPresent(t, zk.Dial), services(t, zk.DialContext)
		present.register(hello("old"))
		register(t, ours, hello("new"))
		present.deregister(hello("old"))
		deregister(t, ours, hello("new"))
		wantServices(t, ours, "")
		for _, session := range zk.Sessions() {
			zk.ExpireSession(session.ID)
		}
		time.Sleep(time.Minute)
		wantServices(t, ours, "old")
	})
}

func TestRegisteredServiceIsBackAfterItsSessionAndARemovalByHand(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		provider := services(t, zk.DialContext)
		register(t, provider, hello("a"))
		zk.ExpireSession(zk.Sessions()[0].ID)
		time.Sleep(time.Minute)
		reader := services(t, zk.DialContext)
		wantServices(t, reader, "a")
		if err := zk.Delete("/microservices/hello/a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		wantServices(t, reader, "a")
		deregister(t, provider, hello("a"))
		wantServices(t, reader, "")
	})
}

func TestServiceThatIsRegisteredAgainHasTheNewData(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		ours := services(t, zk.DialContext)
		register(t, ours, hello("a"))
		before, _ := zk.Stat("/microservices/hello/a")
		changed := hello("a")
		changed.Version = "v2"
		register(t, ours, changed)
		if got, err := ours.GetService(t.Context(), "hello"); len(got) != 1 || got[0].Version != "v2" || err != nil {
			t.Errorf("got %v, %v, want version v2", got, err)
		}
		if after, _ := zk.Stat("/microservices/hello/a"); after.Czxid != before.Czxid {
			t.Error("the node was made again, want other data")
		}
		deregister(t, ours, changed)
		register(t, ours, hello("a")) // and after Deregister
		wantServices(t, ours, "a")
	})
}

func TestNodeOfAKilledProcessIsWaitedForUnlessOverwriting(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		link := zk.NewLink()
		register(t, services(t, link.DialContext), hello("a"))
		link.Cut() // its process was killed; the servers keep its session for a while
		waits, takes := services(t, zk.DialContext), services(t, zk.DialContext, nodes.Overwriting())
		soon, cancel := context.WithTimeout(t.Context(), 10*time.Second) // Kratos's RegistrarTimeout
		defer cancel()
		if err := waits.Register(soon, hello("a")); !errors.Is(err, nodes.ErrForeign) {
			t.Errorf("Register in 10s: got %v, want ErrForeign", err)
		}
		start := time.Now()
		register(t, takes, hello("a"))
		if took := time.Since(start); took > time.Second {
			t.Errorf("with Overwriting, Register took %v, want less than a second", took)
		}
		deregister(t, takes, hello("a"))
		register(t, waits, hello("a")) // the failure left nothing
		wantServices(t, takes, "a")
	})
}

func TestServiceWhoseNameOrIdIsNoPathIsRefused(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		ours := services(t, zk.DialContext)
		for _, service := range []*registry.ServiceInstance{
			nil,
			{},
			{Name: "hello"},
			{ID: "a"},
			{Name: "hello", ID: "a/b"},
			{Name: "hello", ID: ".."},
			{Name: "..", ID: "a"},
			{Name: "../other", ID: "a"},
			{Name: ".", ID: "a"},
			{Name: "hello", ID: "."},
		} {
			if err := ours.Register(t.Context(), service); err == nil {
				t.Errorf("Register of %+v: got nil, want an error", service)
			}
		}
		if _, err := ours.Watch(t.Context(), ""); err == nil {
			t.Error("Watch of no name: got nil, want an error")
		}
		if _, err := ours.GetService(t.Context(), "../x"); err == nil {
			t.Error("GetService of ../x: got nil, want an error")
		}
		if _, err := kratosregistry.New(connect(t, zk.DialContext), "/").GetService(t.Context(), "."); err == nil {
			t.Error("GetService of the root: got nil, want an error")
		}
		if err := ours.Deregister(t.Context(), hello("a")); !errors.Is(err, kratosregistry.ErrNotRegistered) {
			t.Errorf("Deregister: got %v, want ErrNotRegistered", err)
		}
		if zk.Exists("/microservices") {
			t.Error("a node was made, want none")
		}
	})
}

func TestNameWithSlashesIsAPathAsWithThePresentAdapter(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		ours, service := services(t, zk.DialContext), hello("a")
		service.Name = "/shop/orders"
		register(t, ours, service)
		if !zk.Exists("/microservices/shop/orders/a") {
			t.Error("got no node /microservices/shop/orders/a, want one")
		}
		if got, err := ours.GetService(t.Context(), "/shop/orders"); ids(got) != "a" || err != nil {
			t.Errorf("GetService: got %q, %v, want a", ids(got), err)
		}
	})
}
