//go:build unix

package integration_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// ZooKeeper names children in no order; zktest does in theirs.
func TestInstancesOnARealServerAreByTheNamesOfTheirNodes(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	client := newClient(t, server)
	services := discovery.NewServiceDiscovery(client, "/services")
	var names, ids []string
	for i := range 12 {
		ids, names = append(ids, fmt.Sprintf("%02d", i)), append(names, fmt.Sprintf("s%02d", i))
	}
	for i := range ids {
		registerAt(t, services, discovery.ServiceInstance{Name: "orders", ID: ids[len(ids)-1-i]})
		registerAt(t, services, discovery.ServiceInstance{Name: names[i], ID: "1", Type: discovery.DynamicSequential})
	}
	if got, err := services.Names(t.Context()); !slices.Equal(got, append([]string{"orders"}, names...)) || err != nil {
		t.Errorf("got the services %v, %v, want orders and %v", got, err, names)
	}
	all, err := services.Instances(t.Context(), "orders")
	var got []string
	for _, i := range all {
		got = append(got, i.ID)
	}
	if !slices.Equal(got, ids) || err != nil {
		t.Errorf("got the instances %v, %v, want %v", got, err, ids)
	}
	if _, _, err := client.Create(t.Context(), "/services/orders/x", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if all, err = services.Instances(t.Context(), "orders"); len(all) != len(ids) || !errors.Is(err, discovery.ErrBadInstance) {
		t.Errorf("got %d instances, %v, want %d and ErrBadInstance", len(all), err, len(ids))
	}
}

func registerAt(t *testing.T, services *discovery.ServiceDiscovery, i discovery.ServiceInstance) {
	t.Helper()
	r, err := services.Register(t.Context(), i)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
}

// While the reader is cut off, one process registers again as Java does, in its session, and one in another. Then one
// process is cut off, and comes back, and one is for good.
func TestAServiceCacheOnARealServerReportsWhatBecomesOfProcesses(t *testing.T) {
	const timeout, tick = time.Second, 100 * time.Millisecond
	server := zookeeper.Start(t, zookeeper.Config{TickTime: tick})
	reader, line := cutOff(t, server, time.Minute)
	heard := followOrders(t, reader)
	heard.next("synced")
	java, other := newClient(t, server), newClient(t, server)
	for _, id := range []string{"java", "moves"} {
		again(t, java, id)
		heard.next("created " + id)
	}
	line.Cut()
	heard.next("stale")
	again(t, java, "java")
	again(t, other, "moves")
	line.Heal()
	heard.next("deleted moves", "created moves", "changed java", "synced")

	stays, link := cutOff(t, server, timeout)
	registerAt(t, stays, discovery.ServiceInstance{Name: "orders", ID: "stays"})
	heard.next("created stays")
	link.Cut()
	heard.next("deleted stays")
	link.Heal()
	heard.next("created stays")

	killed, link := cutOff(t, server, timeout)
	registerAt(t, killed, discovery.ServiceInstance{Name: "orders", ID: "killed"})
	heard.next("created killed")
	link.Cut()
	defer link.Heal() // for its Close
	cut := time.Now()
	gone := await.Receive(t, timeout+2*tick, "the end of the session", heard.events)
	if took := time.Since(cut); gone != "deleted killed" || took < timeout/4 {
		t.Errorf("got %q after %v, want %q, not before the session may end", gone, took, "deleted killed")
	}
}

// again deletes the node of an instance and creates it again, as a client.
func again(t *testing.T, client *framework.Client, id string) {
	t.Helper()
	data, err := discovery.ServiceInstance{Name: "orders", ID: id}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	path := "/services/orders/" + id
	if err := client.Delete(t.Context(), path, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	_, _, err = client.Create(t.Context(), path, data, framework.WithMode(framework.Ephemeral), framework.CreatingParentContainersIfNeeded())
	if err != nil {
		t.Fatal(err)
	}
}

// cutOff returns a discovery whose client has a path of its own, and a session of this timeout.
func cutOff(t *testing.T, server *zookeeper.Server, timeout time.Duration) (*discovery.ServiceDiscovery, *lockstest.Link) {
	t.Helper()
	link := lockstest.NewLink(server.Addr(), new(net.Dialer).DialContext)
	client := newClient(t, server, framework.WithDialer(link.DialContext), framework.WithSessionTimeout(timeout))
	return discovery.NewServiceDiscovery(client, "/services"), link
}

// An ordersListener hears the events of a cache.
type ordersListener struct {
	t      *testing.T
	events chan string
}

// followOrders starts a cache, and closes it at the end of the test.
func followOrders(t *testing.T, services *discovery.ServiceDiscovery) *ordersListener {
	t.Helper()
	c := services.NewServiceCache("orders")
	ctx, cancel := await.Context(t.Context(), t, patience, "the start of a cache")
	defer cancel()
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	l := &ordersListener{t, make(chan string, 100)}
	c.OnEvent(func(e discovery.Event) {
		text := e.Kind.String()
		if e.Node != "" {
			text += " " + e.Node
		}
		l.events <- text
	})
	return l
}

// next wants these events to come next. The order of those of several instances is open.
func (l *ordersListener) next(want ...string) {
	l.t.Helper()
	var got []string
	for range want {
		got = append(got, await.Receive(l.t, patience, fmt.Sprintf("%q after %q", want, got), l.events))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		l.t.Fatalf("got the events %q, want %q", got, want)
	}
}
