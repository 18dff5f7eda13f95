// Cache shows a service that reads its settings and the list of its workers without asking a server: from two caches,
// of one node and of a directory. An operator changes the settings, workers come and go, the service is cut off and
// goes on with what it has, and a worker is killed. In the end the service has what the servers have.
//
//	go run -C examples ./cache                # on a server in memory
//	go run -C examples ./cache -zk zk1:2181   # on real ZooKeeper
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() { demo.Main(serve, demo.About(source)) }

// A service sends requests to its workers, so many at a time as its settings say.
type service struct {
	settings, workers *cache.CuratorCache
	limit             atomic.Int64 // from the settings that were understood last
	report            func(format string, args ...any)
}

func newService(client *framework.Client, report func(format string, args ...any)) *service {
	return &service{
		settings: cache.NewCuratorCache(client, "/settings", cache.WithDepth(0)),
		workers:  cache.NewCuratorCache(client, "/workers", cache.WithDepth(1)),
		report:   report,
	}
}

// Start returns when the service has its settings and its workers. The functions are called until Close.
func (s *service) Start(ctx context.Context) error {
	if err := s.settings.Start(ctx); err != nil {
		return err
	}
	if err := s.workers.Start(ctx); err != nil {
		return errors.Join(err, s.settings.Close())
	}
	s.settings.OnEvent(s.reload)
	s.workers.OnEvent(s.see)
	return nil
}

func (s *service) Close() error { return errors.Join(s.settings.Close(), s.workers.Close()) }

// reload takes the settings over. What it cannot read changes nothing, and neither does the loss of the node.
func (s *service) reload(event cache.Event) {
	switch event.Kind {
	case cache.Created, cache.Changed:
		limit, err := strconv.ParseInt(strings.TrimPrefix(string(event.New.Data), "limit="), 10, 64)
		if err != nil {
			s.report("refuses the settings %q, and keeps limit %d", event.New.Data, s.limit.Load())
			return
		}
		s.limit.Store(limit)
		s.report("takes over limit %d", limit)
	case cache.Deleted, cache.Synced, cache.Stale:
	}
}

// see hears of the workers: here the service opens connections to them and closes these.
func (s *service) see(event cache.Event) {
	node := event.Node()
	if node.Path == "/workers" {
		return // the directory itself
	}
	switch event.Kind {
	case cache.Created:
		s.report("opens worker %s at %s", path.Base(node.Path), node.Data)
	case cache.Changed:
		s.report("moves worker %s to %s", path.Base(node.Path), node.Data)
	case cache.Deleted:
		s.report("closes worker %s at %s", path.Base(node.Path), node.Data)
	case cache.Stale:
		s.report("is cut off, and goes on with %s", s.Workers())
	case cache.Synced:
		s.report("is up to date with %s", s.Workers())
	}
}

// Workers asks no server, and waits for none.
func (s *service) Workers() []string {
	var names []string
	for worker := range s.workers.Children("/workers") {
		names = append(names, path.Base(worker.Path))
	}
	return names
}

func serve(ctx context.Context, env *demo.Env) error {
	x := scene{env: env, operator: env.Client(), heard: make(chan string, 100)}
	client, line := env.BreakableClient()
	s := newService(client, func(format string, args ...any) {
		env.Say("service "+format, args...)
		x.heard <- fmt.Sprintf(format, args...)
	})
	defer s.Close() //nolint:errcheck // the end of an example
	first, err := x.worker(ctx, "1", "host1:80")
	if err == nil {
		err = x.changes(ctx, s)
	}
	if err == nil {
		err = x.outage(ctx, line)
	}
	if err != nil {
		return err
	}
	env.Say("worker 1 is killed")
	first.kill()
	if err := x.until(ctx, "closes worker 1 at host1:80"); err != nil {
		return err
	}
	return x.agree(ctx, s)
}

// A scene is what there is around the service.
type scene struct {
	env      *demo.Env
	operator *framework.Client
	heard    chan string // what the service has reported
}

// changes starts the service, and changes its settings.
func (x scene) changes(ctx context.Context, s *service) error {
	if err := x.write(ctx, "limit=1"); err != nil {
		return err
	}
	if err := s.Start(ctx); err != nil {
		return err
	}
	if err := x.until(ctx, "takes over limit 1", "opens worker 1 at host1:80", "is up to date with [1]"); err != nil {
		return err
	}
	if err := x.write(ctx, "limit=2"); err != nil {
		return err
	}
	if err := x.until(ctx, "takes over limit 2"); err != nil {
		return err
	}
	if err := x.write(ctx, "limit=many"); err != nil {
		return err
	}
	return x.until(ctx, `refuses the settings "limit=many", and keeps limit 2`)
}

// outage has everything change while the service is cut off.
func (x scene) outage(ctx context.Context, line *demo.Line) error {
	second, err := x.worker(ctx, "2", "host2:80")
	if err != nil {
		return err
	}
	if err := x.until(ctx, "opens worker 2 at host2:80"); err != nil {
		return err
	}
	line.Cut()
	if err := x.until(ctx, "is cut off, and goes on with [1 2]"); err != nil {
		return err
	}
	x.env.Say("worker 2 ends and starts at another address, and worker 3 comes")
	second.end()
	for name, address := range map[string]string{"2": "host9:80", "3": "host3:80"} {
		if _, err := x.worker(ctx, name, address); err != nil {
			return err
		}
	}
	if err := x.write(ctx, "limit=3"); err != nil {
		return err
	}
	line.Heal()
	// The node of worker 2 is another one of the same name: the service has to close the connection to the old worker.
	return x.until(ctx, "closes worker 2 at host2:80", "opens worker 2 at host9:80", "opens worker 3 at host3:80",
		"is up to date with [1 2 3]", "takes over limit 3")
}

func (x scene) write(ctx context.Context, settings string) error {
	x.env.Say("operator writes %s", settings)
	return demo.Put(ctx, x.operator, "/settings", settings)
}

// until waits until the service has reported all the texts, in any order.
func (x scene) until(ctx context.Context, texts ...string) error {
	for len(texts) > 0 {
		select {
		case text := <-x.heard:
			texts = slices.DeleteFunc(texts, func(t string) bool { return t == text })
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// A process is a worker, which has a node for as long as its session lasts.
type process struct{ end, kill func() }

func (x scene) worker(ctx context.Context, name, address string) (process, error) {
	client, line := x.env.BreakableClient()
	return process{end: func() { _ = client.Close() }, kill: line.Cut}, demo.Put(ctx, client, "/workers/"+name, address)
}

// agree fails unless the service has what the servers have.
func (x scene) agree(ctx context.Context, s *service) error {
	names, _, err := x.operator.Children(ctx, "/workers")
	if err != nil {
		return err
	}
	if err := s.workers.Sync(ctx); err != nil {
		return err
	}
	slices.Sort(names)
	if known := s.Workers(); !slices.Equal(known, names) || s.limit.Load() != 3 {
		return fmt.Errorf("the service knows workers %s and limit %d; there are %s and 3", known, s.limit.Load(), names)
	}
	x.env.Say("the service has what the servers have: workers %s, limit 3", names)
	return nil
}
