package goframeregistry_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	goframeregistry "github.com/gocurator/curator/examples/adapters/goframe"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestServicesOfThisAdapterAndOfThePresentOneFindEachOther(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		present, ours := newPresent(t, zk.Dial), services(t, zk.DialContext)
		register(t, ours, hello("10.0.0.2:80"))
		present.register(hello("10.0.0.1:80"))
		wantServices(t, ours, "10.0.0.1:80 10.0.0.2:80")
		if got := addresses(present.find(prefix)); got != "10.0.0.1:80 10.0.0.2:80" && got != "10.0.0.2:80 10.0.0.1:80" {
			t.Errorf("the present adapter finds %q, want both", got)
		}
		const want = `{"Key":"/service/default/default/hello/latest/10.0.0.2:80","Value":"{\"protocol\":\"http\",\"weight\":3}"}`
		if got, _ := zk.Data(dir + "/hello@10.0.0.2:80"); string(got) != want {
			t.Errorf("got the data %s, want %s", got, want)
		}
		deregister(t, ours, hello("10.0.0.2:80"))
		present.deregister(hello("10.0.0.1:80"))
		wantServices(t, ours, "")
		time.Sleep(time.Minute)
		if stat, there := zk.Stat(dir); !there || stat.EphemeralOwner != 0 {
			t.Errorf("got the directory %+v, want a permanent one: the present adapter's watches need it", stat)
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
		present.register(hello("10.0.0.1:80"))
		register(t, ours, hello("10.0.0.2:80"))
		present.deregister(hello("10.0.0.1:80"))
		deregister(t, ours, hello("10.0.0.2:80"))
		wantServices(t, ours, "")
		for _, session := range zk.Sessions() {
			zk.ExpireSession(session.ID)
		}
		time.Sleep(time.Minute)
		wantServices(t, ours, "10.0.0.1:80")
	})
}

func TestTwoProcessesWithOneServiceAreBothFoundUnlikeThePresentAdapters(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		newPresent(t, zk.Dial).register(hello("10.0.0.1:80"))
		newPresent(t, zk.Dial).register(hello("10.0.0.2:80"))
		reader := services(t, zk.DialContext)
		wantServices(t, reader, "10.0.0.2:80") // the second one has removed the first
		register(t, services(t, zk.DialContext), hello("10.0.0.3:80"))
		register(t, services(t, zk.DialContext), hello("10.0.0.4:80,10.0.0.4:81"))
		wantServices(t, reader, "10.0.0.2:80 10.0.0.3:80 10.0.0.4:80 10.0.0.4:81")
	})
}

func TestRegisteredServiceIsBackAfterItsSessionAndARemovalByHand(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		provider := services(t, zk.DialContext)
		register(t, provider, hello("a:1"))
		zk.ExpireSession(zk.Sessions()[0].ID)
		time.Sleep(time.Minute)
		reader := services(t, zk.DialContext)
		wantServices(t, reader, "a:1")
		if err := zk.Delete(dir + "/hello@a:1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		wantServices(t, reader, "a:1")
		deregister(t, provider, hello("a:1"))
		wantServices(t, reader, "")
	})
}

func TestServiceThatIsRegisteredAgainHasTheNewData(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		ours := services(t, zk.DialContext)
		register(t, ours, hello("a:1"))
		before, _ := zk.Stat(dir + "/hello@a:1")
		changed := hello("a:1")
		changed.metadata = gsvcMetadata{"weight": 4}
		register(t, ours, changed)
		wantFound(t, ours, gsvcSearchInput{Metadata: gsvcMetadata{"weight": 4}}, "a:1")
		if after, _ := zk.Stat(dir + "/hello@a:1"); after.Czxid != before.Czxid {
			t.Error("the node was made again, want other data")
		}
		deregister(t, ours, changed)
		register(t, ours, hello("a:1")) // and after Deregister
		wantServices(t, ours, "a:1")
	})
}

func TestNodeOfAKilledProcessIsWaitedForUnlessOverwriting(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		link := zk.NewLink()
		register(t, services(t, link.DialContext), hello("a:1"))
		link.Cut() // its process was killed; the servers keep its session for a while
		waits, takes := services(t, zk.DialContext), services(t, zk.DialContext, nodes.Overwriting())
		soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := waits.Register(soon, hello("a:1")); !errors.Is(err, nodes.ErrForeign) {
			t.Errorf("Register in 10s: got %v, want ErrForeign", err)
		}
		start := time.Now()
		register(t, takes, hello("a:1"))
		if took := time.Since(start); took > time.Second {
			t.Errorf("with Overwriting, Register took %v, want less than a second", took)
		}
		deregister(t, takes, hello("a:1"))
		register(t, waits, hello("a:1")) // the failure left nothing
		wantServices(t, takes, "a:1")
	})
}

// unprefixed is a service whose node would stand in the root.
type unprefixed struct{ *service }

func (unprefixed) GetPrefix() string { return "/" }

func TestServiceThatNoReaderCouldReadIsRefused(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		ours := registryOf(connect(t, zk.DialContext, framework.WithLogger(slog.New(warnings{count: make(chan string, 100)}))))
		unnamed := hello("a:1")
		unnamed.name = ""
		for what, s := range map[string]gsvcService{
			"nil": nil, "no endpoint": hello(""), "no port": hello("a"), "no prefix": unprefixed{hello("a:1")}, "no name": unnamed,
		} {
			if _, err := ours.Register(t.Context(), s); err == nil {
				t.Errorf("%s: got nil, want an error", what)
			}
		}
		if err := ours.Deregister(t.Context(), hello("a:1")); !errors.Is(err, goframeregistry.ErrNotRegistered) {
			t.Errorf("Deregister: got %v, want ErrNotRegistered", err)
		}
		if zk.Exists("/microservices") {
			t.Error("a node was made, want none")
		}
	})
}
