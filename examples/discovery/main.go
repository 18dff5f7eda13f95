// Discovery shows processes that register themselves as a service, and a client that finds them. A process says that it
// is not to be used for a while, one is killed and its successor registers the same ID, one loses its session and
// stays, and the client is cut off and goes on with what it has. In the end the client has what the servers have.
//
//	go run -C examples ./discovery                # on a server in memory
//	go run -C examples ./discovery -zk zk1:2181   # on real ZooKeeper
//
// The nodes are those of Java's curator-x-discovery, and of Spring Cloud Zookeeper.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() { demo.Main(find, demo.About(source)) }

// A process is one of the service orders.
type process struct {
	*discovery.Registration
	line *demo.Line
}

// A metadata is what a process says of itself beside its address.
type metadata struct {
	Zone string `json:"zone"`
}

// instance is what the process with this ID registers.
func instance(id string, port int) discovery.ServiceInstance {
	return discovery.ServiceInstance{Name: "orders", ID: id, Address: "10.0.0." + id, Port: &port, Payload: []byte(`{"zone":"eu"}`)}
}

// register blocks until the process is registered: its successor waits here until the servers have ended the session of
// a process that was killed.
func (x scene) register(ctx context.Context, id string, port int) (process, error) {
	client, line := x.env.BreakableClient()
	x.env.Say("process %s registers port %d", id, port)
	r, err := discovery.NewServiceDiscovery(client, "/services").Register(ctx, instance(id, port))
	return process{r, line}, err
}

// A balancer is a client of the service.
type balancer struct {
	orders *discovery.ServiceCache
	report func(format string, args ...any)
}

// see hears of the instances: here the client opens connections to them and closes these.
func (b *balancer) see(event discovery.Event) {
	switch event.Kind {
	case cache.Created:
		b.report("opens %s", address(event.New))
	case cache.Changed:
		b.report("goes on with %s, enabled: %t", address(event.New), event.New.IsEnabled())
	case cache.Deleted:
		b.report("closes %s", address(event.Old))
	case cache.Stale:
		b.report("is cut off, and goes on with %s", b.all())
	case cache.Synced:
		b.report("is up to date with %s", b.all())
	}
}

func address(i discovery.ServiceInstance) string {
	m, err := discovery.Payload[metadata](i)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s:%d in %s", i.Address, *i.Port, m.Zone)
}

// all are the IDs of the instances that may be used.
func (b *balancer) all() (ids []string) {
	for i := range b.orders.Instances() {
		if i.IsEnabled() {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// choose is all that a ServiceProvider is.
func (b *balancer) choose() string {
	if ids := b.all(); len(ids) > 0 {
		return ids[rand.IntN(len(ids))]
	}
	return "none"
}

// A scene is what there is around the client.
type scene struct {
	env      *demo.Env
	balancer *balancer
	line     *demo.Line // the balancer's
	heard    chan string
}

func find(ctx context.Context, env *demo.Env) error {
	client, line := env.BreakableClient()
	x := scene{env: env, line: line, heard: make(chan string, 100)}
	x.balancer = &balancer{
		orders: discovery.NewServiceDiscovery(client, "/services").NewServiceCache("orders"),
		report: func(format string, args ...any) {
			env.Say("client "+format, args...)
			x.heard <- fmt.Sprintf(format, args...)
		},
	}
	if err := x.balancer.orders.Start(ctx); err != nil { // there is no such service yet
		return err
	}
	defer x.balancer.orders.Close() //nolint:errcheck // the end of an example
	x.balancer.orders.OnEvent(x.balancer.see)
	first, err := x.register(ctx, "1", 8080)
	if err != nil {
		return err
	}
	second, err := x.register(ctx, "2", 8080)
	if err != nil {
		return err
	}
	if err := x.until(ctx, "is up to date with []", "opens 10.0.0.1:8080 in eu", "opens 10.0.0.2:8080 in eu"); err != nil {
		return err
	}
	if err := x.pauses(ctx, second); err != nil {
		return err
	}
	if err := x.isKilled(ctx, first); err != nil {
		return err
	}
	if err := x.losesItsSession(ctx, second); err != nil {
		return err
	}
	return x.agree(ctx, client)
}

// pauses has process 2 say that it is not to be used, and that it is.
func (x scene) pauses(ctx context.Context, second process) error {
	for _, enabled := range []bool{false, true} {
		x.env.Say("process 2 is enabled: %t", enabled)
		i := instance("2", 8080)
		i.Enabled = &enabled
		if err := second.Update(ctx, i); err != nil {
			return err
		}
		if err := x.until(ctx, fmt.Sprintf("goes on with 10.0.0.2:8080 in eu, enabled: %t", enabled)); err != nil {
			return err
		}
		chosen := x.balancer.choose()
		x.env.Say("client chooses process %s", chosen)
		if !enabled && chosen != "1" {
			return fmt.Errorf("the client chose process %s, which is not enabled", chosen)
		}
	}
	return nil
}

// isKilled ends process 1 without a word. A new one takes its ID.
func (x scene) isKilled(ctx context.Context, first process) error {
	x.env.Say("process 1 is killed")
	first.line.Cut()
	if _, err := x.register(ctx, "1", 9090); err != nil {
		return err
	}
	return x.until(ctx, "closes 10.0.0.1:8080 in eu", "opens 10.0.0.1:9090 in eu")
}

// losesItsSession cuts the client off, and process 2 until its session is over.
func (x scene) losesItsSession(ctx context.Context, second process) error {
	x.line.Cut()
	if err := x.until(ctx, "is cut off, and goes on with [1 2]"); err != nil {
		return err
	}
	x.env.Say("process 2 is cut off, too")
	changes := make(chan bool, 2)
	defer second.OnChange(func(there bool) { changes <- there })()
	second.line.Cut()
	for range 2 {
		select {
		case there := <-changes:
			x.env.Say("process 2 is registered: %t", there)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		second.line.Heal()
	}
	x.line.Heal()
	// Its node is another one of the same name: connections to the old process would be of no use.
	return x.until(ctx, "closes 10.0.0.2:8080 in eu", "opens 10.0.0.2:8080 in eu", "is up to date with [1 2]")
}

// until waits until the client has reported all the texts, in any order.
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

// agree fails unless the client has what the servers have.
func (x scene) agree(ctx context.Context, client *framework.Client) error {
	if err := x.balancer.orders.Sync(ctx); err != nil {
		return err
	}
	all, err := discovery.NewServiceDiscovery(client, "/services").Instances(ctx, "orders")
	if err != nil {
		return err
	}
	var want, got []string
	for _, i := range all {
		want = append(want, address(i))
	}
	for i := range x.balancer.orders.Instances() {
		got = append(got, address(i))
	}
	if !slices.Equal(got, want) || len(want) != 2 {
		return fmt.Errorf("the client knows %s; there are %s", got, want)
	}
	x.env.Say("the client has what the servers have: %s", strings.Join(got, ", "))
	return nil
}
