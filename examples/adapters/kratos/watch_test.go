package kratosregistry_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	kratosregistry "github.com/gocurator/curator/examples/adapters/kratos"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestNextBlocksUntilTheInstancesDiffer(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		one, other := services(t, zk.DialContext), services(t, zk.DialContext)
		f := follow(t, services(t, zk.DialContext))
		f.want(t, "nothing")
		register(t, one, hello("a"))
		f.want(t, "the first", "a")
		register(t, other, hello("b"))
		f.want(t, "the second", "a b")
		f.want(t, "nothing more")
		changed := hello("b")
		changed.Version = "v2"
		register(t, other, changed)
		f.want(t, "other data", "a b")
		deregister(t, one, hello("a"))
		f.want(t, "the first has gone", "b")
		deregister(t, other, hello("b"))
		f.want(t, "all have gone", "")
		if err := f.Stop(); err != nil {
			t.Errorf("Stop: got %v, want nil", err)
		}
		if err := <-f.errs; !errors.Is(err, context.Canceled) {
			t.Errorf("Next of a watcher that was stopped: got %v, want Canceled", err)
		}
	})
}

func TestNextReturnsAtOnceWhatThereIs(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		ours := services(t, zk.DialContext)
		register(t, ours, hello("b"))
		register(t, ours, hello("a"))
		start := time.Now()
		w, err := ours.Watch(t.Context(), "hello")
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		if got, err := w.Next(); ids(got) != "a b" || err != nil || time.Since(start) > time.Second {
			t.Errorf("got %q, %v after %v, want both at once", ids(got), err, time.Since(start))
		}
	})
}

func TestNextReturnsAfterAnOutageOnceAndOnlyIfSomethingHasChanged(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		link, provider := zk.NewLink(), services(t, zk.DialContext)
		f := follow(t, services(t, link.DialContext))
		register(t, provider, hello("a"))
		f.want(t, "the first", "a")
		link.Cut()
		f.want(t, "the outage began")
		link.Heal()
		f.want(t, "an outage in which nothing happened")
		link.Cut()
		for _, id := range []string{"b", "c", "d"} {
			register(t, provider, hello(id))
		}
		deregister(t, provider, hello("a"))
		f.want(t, "changes during an outage")
		link.Heal()
		f.want(t, "the outage has ended", "b c d")
		if got := len(f.errs); got != 0 {
			t.Errorf("Next returned %d errors, want none", got)
		}
	})
}

func TestInstanceThatIsRegisteredAgainInTheNextSessionIsAChange(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		provider := services(t, zk.DialContext)
		register(t, provider, hello("a"))
		session := zk.Sessions()[0].ID
		f := follow(t, services(t, zk.DialContext))
		f.want(t, "the first", "a")
		zk.ExpireSession(session)
		time.Sleep(time.Minute)
		last := ""
		for range len(f.heard) {
			last = <-f.heard
		}
		if last != "a" {
			t.Errorf("after its session, Next last returned %q, want a", last)
		}
	})
}

func TestNextReportsThatThereIsNoServerAndGoesOnByItself(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		register(t, services(t, zk.DialContext), hello("a"))
		link := zk.NewLink()
		link.Cut()
		start := time.Now()
		f := follow(t, services(t, link.DialContext))
		if took := time.Since(start); took > 0 {
			t.Errorf("Watch took %v, want no time: Kratos gives up after ten seconds", took)
		}
		f.want(t, "a minute without a server")
		var noConnection *framework.ConnectError
		if err := <-f.errs; !errors.As(err, &noConnection) {
			t.Errorf("got %v, want a ConnectError", err)
		}
		link.Heal()
		f.want(t, "the server is there", "a")
	})
}

func TestWatcherOfAClientThatIsClosedEndsWithoutAnEmptyList(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		register(t, services(t, zk.DialContext), hello("a"))
		client := connect(t, zk.DialContext)
		f := follow(t, kratosregistry.New(client, kratosregistry.DefaultRoot))
		f.want(t, "the first", "a")
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
		w, err := kratosregistry.New(client, kratosregistry.DefaultRoot).Watch(context.WithoutCancel(t.Context()), "hello")
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if got, err := w.Next(); got != nil || !errors.Is(err, framework.ErrClosed) {
			t.Errorf("got %v, %v, want ErrClosed", got, err)
		}
	})
}

func TestWatcherEndsWithItsContextWithoutStop(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		w, err := services(t, zk.DialContext).Watch(ctx, "hello")
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, cancel)
		if got, err := w.Next(); got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v, want Canceled", got, err)
		}
		time.Sleep(time.Second)
		if got := zk.WatchCount(); got != 0 {
			t.Errorf("got %d watches at the server, want none", got)
		}
	})
}

func TestNodesThatAreNoInstancesOfTheServiceAreLeftOut(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		log := warnings{count: make(chan string, 100)}
		client := connect(t, zk.DialContext, framework.WithLogger(slog.New(log)))
		ours := kratosregistry.New(client, kratosregistry.DefaultRoot)
		wantServices(t, ours, "") // there is no directory yet
		register(t, ours, hello("good"))
		for name, data := range map[string]string{"bad": "{", "empty": "", "others": `{"id":"others","name":"goodbye"}`} {
			if err := zk.Create("/microservices/hello/"+name, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		wantServices(t, ours, "good")
		time.Sleep(time.Second) // the client logs in the background
		if got, want := len(log.count), 2; got != want {
			t.Errorf("got %d warnings, want %d, one for each node that is no JSON", got, want)
		}
		follow(t, ours).want(t, "the first", "good")
	})
}
