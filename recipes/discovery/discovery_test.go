package discovery_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/discovery"
)

func TestNamesAreSortedAndThereAreNoneWithoutABasePath(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		want := func(path, want string) {
			t.Helper()
			if names, err := discovery.NewServiceDiscovery(client, path).Names(t.Context()); fmt.Sprint(names) != want || err != nil {
				t.Errorf("%s: got %v, %v, want %s", path, names, err, want)
			}
		}
		want(base, "[]")
		want("/", "[zookeeper]")
		for _, path := range []string{base, "/"} {
			for _, name := range []string{"b", "c", "a"} {
				r, err := discovery.NewServiceDiscovery(client, path).Register(t.Context(), discovery.ServiceInstance{Name: name})
				must(t, err)
				t.Cleanup(func() { _ = r.Close() })
			}
		}
		want(base, "[a b c]")
		want("/", "[a b c services zookeeper]")
	})
}

func TestInstancesAreThoseOfTheServiceByTheNamesOfTheirNodes(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		services := discovery.NewServiceDiscovery(client, base)
		if all, err := services.Instances(t.Context(), "orders"); len(all) != 0 || err != nil {
			t.Errorf("without the service: got %v, %v, want none", all, err)
		}
		makeService(t, server)
		if all, err := services.Instances(t.Context(), "orders"); len(all) != 0 || err != nil {
			t.Errorf("without instances: got %v, %v, want none", all, err)
		}
		var want []string
		for _, id := range []string{"b", "c", "a"} {
			i := order(id, 80)
			i.Enabled = pointer(id == "a")
			register(t, client, i)
			want = append(want, brief(i))
		}
		slices.Sort(want)
		all, err := services.Instances(t.Context(), "orders")
		if got := briefs(all); !slices.Equal(got, want) || err != nil || all[1].IsEnabled() {
			t.Errorf("got %v, %v, want %v, of which a alone is enabled", got, err, want)
		}
		if i, err := services.Instance(t.Context(), "orders", "b"); brief(i) != "b:80" || err != nil {
			t.Errorf("Instance: got %s, %v, want b:80", brief(i), err)
		}
	})
}

func TestNodesThatAreNoInstancesAreLeftOutAndNamedByTheError(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeService(t, server)
		makeNode(t, server, orders+"/a", []byte("{}"))
		makeNode(t, server, orders+"/b", data(t, order("b", 80)))
		makeNode(t, server, orders+"/c", nil)
		makeNode(t, server, orders+"/d", data(t, order("d", 80)))
		must(t, server.SetACL(orders+"/d", zktest.ACL{Perms: zk.PermWrite, Scheme: "world", ID: "anyone"}))
		client, _ := newClient(t, server)
		services := discovery.NewServiceDiscovery(client, base)
		all, err := services.Instances(t.Context(), "orders")
		if got := briefs(all); !slices.Equal(got, []string{"b:80"}) || !errors.Is(err, discovery.ErrBadInstance) || !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("got %v, %v, want b:80, ErrBadInstance and ErrNoAuth", got, err)
		}
		wantTexts(t, err, `"/services/orders/a": name ""`, `"/services/orders/c": `, `"/services/orders/d": `)
		if err != nil && strings.Contains(err.Error(), "orders/b") {
			t.Errorf("got %v, want nothing of b", err)
		}
		for id, want := range map[string]error{"a": discovery.ErrBadInstance, "d": zk.ErrNoAuth, "e": zk.ErrNoNode} {
			if i, err := services.Instance(t.Context(), "orders", id); !errors.Is(err, want) || brief(i) != "" {
				t.Errorf("Instance %s: got %s, %v, want %v", id, brief(i), err, want)
			}
		}
	})
}

func TestInstancesThatGoWhileTheyAreReadAreLeftOut(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeService(t, server)
		for _, id := range []string{"a", "b", "c"} {
			makeNode(t, server, orders+"/"+id, data(t, order(id, 80)))
		}
		client, _ := newClient(t, server)
		read := instancesHeld(t, server, client)
		deleteNode(t, server, orders+"/b")
		if all, err := read(); !slices.Equal(briefs(all), []string{"a:80", "c:80"}) || err != nil {
			t.Errorf("got %v, %v, want a:80 and c:80", briefs(all), err)
		}
	})
}

// The session ends between the listing and the answers.
func TestInstancesAreReadAgainInTheNextSession(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeService(t, server)
		for _, id := range []string{"a", "b"} {
			makeNode(t, server, orders+"/"+id, data(t, order(id, 80)))
		}
		client, _ := newClient(t, server)
		read := instancesHeld(t, server, client)
		server.ExpireSession(sessionOf(t, client))
		synctest.Wait()
		if all, err := read(); !slices.Equal(briefs(all), []string{"a:80", "b:80"}) || err != nil {
			t.Errorf("got %v, %v, want a:80 and b:80", briefs(all), err)
		}
	})
}

// instancesHeld calls Instances, whose reads wait at the server until the function is called that is returned.
func instancesHeld(t *testing.T, server *zktest.Server, client *framework.Client) func() ([]discovery.ServiceInstance, error) {
	t.Helper()
	release := server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Path: orders + "/*"})
	var all []discovery.ServiceInstance
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		all, err = discovery.NewServiceDiscovery(client, base).Instances(t.Context(), "orders")
	}()
	synctest.Wait()
	return func() ([]discovery.ServiceInstance, error) {
		release()
		<-done
		return all, err
	}
}

func TestQueriesWithoutAServerFail(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		services := discovery.NewServiceDiscovery(client, base)
		link.Cut()
		time.Sleep(2 * sessionTimeout)
		_, namesErr := services.Names(t.Context())
		_, instancesErr := services.Instances(t.Context(), "orders")
		_, instanceErr := services.Instance(t.Context(), "orders", "7")
		for _, err := range []error{namesErr, instancesErr, instanceErr} {
			var unreachable *framework.ConnectError
			if !errors.As(err, &unreachable) {
				t.Errorf("got %v, want a ConnectError", err)
			}
		}
	})
}

func TestQueriesReportEverythingThatIsWrongWithTheirArguments(t *testing.T) {
	services := discovery.NewServiceDiscovery(nil, "services/")
	_, err := services.Names(t.Context())
	wantTexts(t, err, "discovery: ", `"services/"`, "client is nil")
	_, err = services.Instances(t.Context(), "a/b")
	wantTexts(t, err, "discovery: ", `"services/"`, "client is nil", `name "a/b"`)
	_, err = services.Instance(t.Context(), "", ".")
	wantTexts(t, err, "discovery: ", `"services/"`, "client is nil", `name ""`, `id "."`)
	err = services.NewServiceCache("a/b").Start(t.Context())
	wantTexts(t, err, "discovery: ", `"services/"`, "client is nil", `name "a/b"`)
}

func TestServicesOfANamespaceAreBelowIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		apart := client.UsingNamespace("shop")
		register(t, client, order("7", 80))
		r := register(t, apart, order("8", 80))
		if r.Path() != orders+"/8" || !server.Exists("/shop"+orders+"/8") {
			t.Errorf("got the path %s, want %s, below /shop at the server", r.Path(), orders+"/8")
		}
		all, err := discovery.NewServiceDiscovery(apart, base).Instances(t.Context(), "orders")
		if got := briefs(all); !slices.Equal(got, []string{"8:80"}) || err != nil {
			t.Errorf("got %v, %v, want 8:80", got, err)
		}
		makeNode(t, server, "/shop"+orders+"/9", nil)
		_, err = discovery.NewServiceDiscovery(apart, base).Instances(t.Context(), "orders")
		wantTexts(t, err, `"/services/orders/9"`)
		c := follow(t, apart)
		wantInstances(t, c, "8:80")
		if bad := c.Bad(); len(bad) != 1 || bad["9"] == nil {
			t.Errorf("got %v, want 9", bad)
		}
	})
}
