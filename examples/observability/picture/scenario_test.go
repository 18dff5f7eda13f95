package picture_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gocurator/curator/examples/observability"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
)

const (
	length         = 30 * time.Minute
	scrapeInterval = 15 * time.Second
	sessionTimeout = 30 * time.Second
	services       = "/services/orders"
	nightly        = "/locks/nightly"
)

// A process shares everything with two others, and counts in a registry of its own.
type process struct {
	registry *prometheus.Registry
	link     *zktest.Link
	client   *framework.Client
	resign   chan struct{} // the leader that receives from it returns
	stop     context.CancelFunc
	running  chan struct{} // closed when it has ended in order
}

func start(t *testing.T, server *zktest.Server, name string) *process {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	p := &process{
		registry: prometheus.NewRegistry(), link: server.NewLink(), resign: make(chan struct{}), stop: stop, running: make(chan struct{}),
	}
	telemetry, err := observability.New(observability.Config{
		Registerer: prometheus.WrapRegistererWith(prometheus.Labels{"instance": name}, p.registry),
	})
	if err != nil {
		t.Fatal(err)
	}
	p.link.SetLatency(2 * time.Millisecond)
	p.client, err = framework.NewClient("any:2181", append(telemetry.ClientOptions(),
		framework.WithDialer(p.link.DialContext), framework.WithSessionTimeout(sessionTimeout))...)
	if err != nil {
		t.Fatal(err)
	}
	telemetry.Watch("orders", p.client)
	selector := leader.NewLeaderSelector(p.client, "/leaders/billing", telemetry.Election("billing"))
	telemetry.WatchLeader("billing", selector)
	instances := cache.NewCuratorCache(p.client, services, cache.WithDepth(1), cache.WithReadAgain(2*time.Minute))
	telemetry.WatchCache("orders", instances)
	registration := nodes.NewPersistentNode(p.client, services+"/"+name, []byte("here"))
	telemetry.WatchRegistration("orders", registration)
	if err := errors.Join(registration.Start(ctx), instances.Start(ctx)); err != nil {
		t.Fatal(err)
	}
	// Behind a writer a hand-over takes a listing, and so a round trip.
	lock := locks.NewInterProcessReadWriteLock(p.client, nightly, telemetry.Lock("nightly")).WriteLock()
	ended := make(chan struct{})
	go func() {
		_ = selector.Run(ctx, p.lead)
		ended <- struct{}{}
	}()
	go func() {
		for ctx.Err() == nil {
			_ = locks.Do(ctx, lock, work) // its end is what the metrics are about
		}
		ended <- struct{}{}
	}()
	go func() {
		defer close(p.running)
		<-ended
		<-ended
		_, _ = instances.Close(), registration.Close()
		_ = p.client.Close()
	}()
	return p
}

func (p *process) lead(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-p.resign:
	}
	return nil
}

// work is what the lock guards: ten seconds of it.
func work(ctx context.Context) error {
	select {
	case <-time.After(10 * time.Second):
	case <-ctx.Done():
	}
	return nil
}

func (p *process) end() {
	p.stop()
	<-p.running
}

// A fault happens at its time, and the picture has a line there.
type fault struct {
	at   time.Duration
	text string
	do   func() error
}

// run lets three processes share everything for half an hour, and returns what was scraped, in OpenMetrics, and the
// faults.
func run(t *testing.T) (scraped string, began time.Time, faults []fault) {
	t.Helper()
	var all strings.Builder
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		processes := map[string]*process{}
		for _, name := range []string{"a", "b", "c"} {
			processes[name] = start(t, server, name)
			synctest.Wait() // a leads first
		}
		faults = script(t, server, processes)
		began = time.Now()
		next := 0
		for at := time.Duration(0); at <= length; at += scrapeInterval {
			for ; next < len(faults) && faults[next].at <= at; next++ {
				if err := faults[next].do(); err != nil {
					t.Fatal(faults[next].text, ": ", err)
				}
			}
			for _, p := range processes {
				scrape(t, &all, p.registry)
			}
			time.Sleep(scrapeInterval)
		}
		for _, p := range processes {
			p.end()
		}
	})
	return all.String() + "# EOF\n", began, faults
}

// script is what happens when.
func script(t *testing.T, server *zktest.Server, processes map[string]*process) []fault {
	t.Helper()
	lost := func() {}
	quiet := func(do func()) func() error {
		return func() error {
			do()
			return nil
		}
	}
	return []fault{
		{3 * time.Minute, "a, which leads, is cut off", quiet(processes["a"].link.Cut)},
		{5 * time.Minute, "a is back", quiet(processes["a"].link.Heal)},
		{9 * time.Minute, "the server is frozen for 12 s", quiet(func() { // a scrape is in the middle
			time.AfterFunc(4*time.Second, server.Freeze)
			time.AfterFunc(16*time.Second, server.Unfreeze)
		})},
		{13 * time.Minute, "the holder's node and b's registration are deleted", func() error {
			holder, err := locks.NewInterProcessReadWriteLock(processes["c"].client, nightly).WriteLock().Participants(t.Context())
			if err != nil {
				return err
			}
			return errors.Join(server.Delete(holder[0].Path), server.Delete(services+"/b"))
		}},
		{17 * time.Minute, "the leader resigns", func() error {
			for _, p := range processes {
				select {
				case p.resign <- struct{}{}:
				default: // it does not lead
				}
			}
			return nil
		}},
		{20 * time.Minute, "an event is lost, of a node that may not be read", func() error {
			lost = server.DropEvents(zktest.Match{Path: services + "*"})
			return errors.Join(server.Create(services+"/x", nil),
				server.SetACL(services+"/x", zktest.ACL{Perms: zk.PermAdmin, Scheme: "world", ID: "anyone"}))
		}},
		{20*time.Minute + scrapeInterval, "", quiet(func() { lost() })},
		{24 * time.Minute, "c ends in order", func() error {
			processes["c"].end()
			delete(processes, "c")
			return nil
		}},
		{26 * time.Minute, "c is started again", quiet(func() { processes["c"] = start(t, server, "c") })},
	}
}
