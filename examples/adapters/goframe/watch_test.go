package goframeregistry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	goframeregistry "github.com/gocurator/curator/examples/adapters/goframe"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestProceedBlocksUntilTheServicesDiffer(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		one, other := services(t, zk.DialContext), services(t, zk.DialContext)
		f := follow(t, services(t, zk.DialContext))
		f.want(t, "nothing")
		register(t, one, hello("a:1"))
		f.want(t, "the first", "a:1")
		register(t, other, hello("b:1"))
		f.want(t, "the second", "a:1 b:1")
		f.want(t, "nothing more")
		changed := hello("b:1")
		changed.metadata = gsvcMetadata{"weight": 4}
		register(t, other, changed)
		f.want(t, "other data", "a:1 b:1")
		deregister(t, one, hello("a:1"))
		f.want(t, "the first has gone", "b:1")
		deregister(t, other, hello("b:1"))
		f.want(t, "all have gone", "")
		if err := f.Close(); err != nil {
			t.Errorf("Close: got %v, want nil", err)
		}
		if err := <-f.errs; !errors.Is(err, context.Canceled) {
			t.Errorf("Proceed of a watcher that was stopped: got %v, want Canceled", err)
		}
	})
}

func TestProceedReturnsAtOnceWhatThereIs(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		ours := services(t, zk.DialContext)
		register(t, ours, hello("b:1"))
		register(t, ours, hello("a:1"))
		start := time.Now()
		w, err := ours.Watch(t.Context(), prefix)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if got, err := w.Proceed(); addresses(got) != "a:1 b:1" || err != nil || time.Since(start) > time.Second {
			t.Errorf("got %q, %v after %v, want both at once", addresses(got), err, time.Since(start))
		}
	})
}

func TestProceedReturnsAfterAnOutageOnceAndOnlyIfSomethingHasChanged(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		link, provider := zk.NewLink(), services(t, zk.DialContext)
		f := follow(t, services(t, link.DialContext))
		register(t, provider, hello("a:1"))
		f.want(t, "the first", "a:1")
		link.Cut()
		f.want(t, "the outage began")
		link.Heal()
		f.want(t, "an outage in which nothing happened")
		link.Cut()
		for _, id := range []string{"b", "c", "d"} {
			register(t, provider, hello(id+":1"))
		}
		deregister(t, provider, hello("a:1"))
		f.want(t, "changes during an outage")
		link.Heal()
		f.want(t, "the outage has ended", "b:1 c:1 d:1")
		if got := len(f.errs); got != 0 {
			t.Errorf("Proceed returned %d errors, want none", got)
		}
	})
}

// A list that was read before the cache is synced lacks what the cache has not read yet.
func TestProceedReadsNothingBeforeTheCacheIsSynced(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		link, provider := zk.NewLink(), services(t, zk.DialContext)
		w, err := services(t, link.DialContext).Watch(t.Context(), prefix)
		if err != nil {
			t.Fatal(err)
		}
		reads, early := 0, 0
		goframeregistry.ReportReads[gsvcService](w, func(synced bool) {
			if reads++; !synced {
				early++
			}
		})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for err := error(nil); err == nil; {
				_, err = w.Proceed()
			}
		}()
		register(t, provider, hello("a:1"))
		time.Sleep(time.Minute)
		link.Cut()
		time.Sleep(timeout / 4)
		register(t, provider, hello("b:1"))
		link.Heal()
		time.Sleep(time.Minute)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		<-ended
		if reads < 2 || early > 0 {
			t.Errorf("got %d reads, %d of them before the cache was synced, want at least 2 and none", reads, early)
		}
	})
}

func TestServiceThatIsRegisteredAgainInTheNextSessionIsAChange(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		provider := services(t, zk.DialContext)
		register(t, provider, hello("a:1"))
		session := zk.Sessions()[0].ID
		f := follow(t, services(t, zk.DialContext))
		f.want(t, "the first", "a:1")
		zk.ExpireSession(session)
		time.Sleep(time.Minute)
		last := ""
		for range len(f.heard) {
			last = <-f.heard
		}
		if last != "a:1" {
			t.Errorf("after its session, Proceed last returned %q, want a:1", last)
		}
	})
}

func TestProceedReportsThatThereIsNoServerAndGoesOnByItself(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		register(t, services(t, zk.DialContext), hello("a:1"))
		link := zk.NewLink()
		link.Cut()
		start := time.Now()
		f := follow(t, services(t, link.DialContext))
		if took := time.Since(start); took > 0 {
			t.Errorf("Watch took %v, want no time", took)
		}
		f.want(t, "a minute without a server")
		var noConnection *framework.ConnectError
		if err := <-f.errs; !errors.As(err, &noConnection) {
			t.Errorf("got %v, want a ConnectError", err)
		}
		link.Heal()
		f.want(t, "the server is there", "a:1")
	})
}

func TestWatcherOfAClientThatIsClosedEndsWithoutAnEmptyList(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		register(t, services(t, zk.DialContext), hello("a:1"))
		client := connect(t, zk.DialContext)
		f := follow(t, registryOf(client))
		f.want(t, "the first", "a:1")
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		f.want(t, "the client was closed")
		if err := <-f.errs; !errors.Is(err, framework.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
	})
}

// The bubble waits for its goroutine.
func TestWatcherOfAClientThatIsClosedBeforeItHasReadAnythingEnds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		link := zktest.New(t).NewLink()
		link.Cut()
		client := connect(t, link.DialContext)
		w, err := registryOf(client).Watch(t.Context(), prefix)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if got, err := w.Proceed(); got != nil || !errors.Is(err, framework.ErrClosed) {
			t.Errorf("got %v, %v, want ErrClosed", got, err)
		}
	})
}

// GoFrame's client watches with the context of its first request.
func TestWatcherOutlivesTheContextOfWatch(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		provider := services(t, zk.DialContext)
		request, answered := context.WithCancel(t.Context())
		w, err := services(t, zk.DialContext).Watch(request, prefix)
		if err != nil {
			t.Fatal(err)
		}
		answered()
		register(t, provider, hello("a:1"))
		if got, err := w.Proceed(); addresses(got) != "a:1" || err != nil {
			t.Errorf("got %q, %v, want a:1", addresses(got), err)
		}
		if err := w.Close(); err != nil {
			t.Errorf("Close: got %v, want nil", err)
		}
		deregister(t, provider, hello("a:1")) // its node has a watch as well
		time.Sleep(time.Second)
		if got := zk.WatchCount(); got != 0 {
			t.Errorf("after Close: got %d watches at the server, want none", got)
		}
	})
}

func TestWatcherOfAServiceThatComesLaterHearsOfItUnlikeThePresentAdapters(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		present := newPresent(t, zk.Dial)
		heard, f := present.watch(prefix), follow(t, services(t, zk.DialContext))
		time.Sleep(time.Second)
		if event := <-heard; event.Err == nil {
			t.Errorf("the present adapter hears %v, want an error", event)
		}
		register(t, services(t, zk.DialContext), hello("a:1"))
		f.want(t, "the first", "a:1")
		if got := len(heard); got != 0 {
			t.Errorf("the present adapter hears %v, want nothing any more", <-heard)
		}
	})
}

func TestWatcherWithoutAPrefixIsOfAllServices(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ours, other := services(t, zktest.New(t).DialContext), hello("b:1")
		other.name = "other"
		register(t, ours, hello("a:1"))
		register(t, ours, other)
		w, err := ours.Watch(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if got, err := w.Proceed(); addresses(got) != "a:1 b:1" || err != nil {
			t.Errorf("got %q, %v, want both", addresses(got), err)
		}
	})
}

// A stranger is a type with a watcher's methods that no watcher of this package is.
type stranger struct{ gsvcWatcher }

func TestWatchSaysThatItsParameterIsNoInterface(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		client := connect(t, zktest.New(t).DialContext)
		wrong := goframeregistry.New[stranger, gsvcSearchInput](client, "/", newServiceWithKV)
		if _, err := wrong.Watch(t.Context(), prefix); err == nil {
			t.Error("got nil, want an error")
		}
	})
}
