package discovery_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
)

// wantNode checks the data of a node, and whose it is: 0 is no session's.
func wantNode(t *testing.T, server *zktest.Server, path string, want discovery.ServiceInstance, owner int64) {
	t.Helper()
	got, _ := server.Data(path)
	if stat, there := server.Stat(path); !there || string(got) != string(data(t, want)) || stat.EphemeralOwner != owner {
		t.Errorf("node %s: got %s of session %x, want %s of %x", path, got, stat.EphemeralOwner, data(t, want), owner)
	}
}

func TestRegisteredInstancesAreNodesWhoseModeIsThatOfTheirType(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		for serviceType, c := range map[discovery.ServiceType]struct {
			path      string
			ephemeral bool
		}{
			"":                          {"^/services/orders/default$", true},
			discovery.Dynamic:           {"^/services/orders/DYNAMIC$", true},
			discovery.DynamicSequential: {`^/services/orders/_c_[0-9a-f-]{36}-DYNAMIC_SEQUENTIAL\d{10}$`, true},
			discovery.Static:            {"^/services/orders/STATIC$", false},
			discovery.Permanent:         {"^/services/orders/PERMANENT$", false},
		} {
			id, owner := string(serviceType), int64(0)
			if id == "" {
				id = "default"
			}
			if c.ephemeral {
				owner = sessionOf(t, client)
			}
			i := discovery.ServiceInstance{Name: "orders", ID: id, Type: serviceType, Registered: time.UnixMilli(5)}
			r := register(t, client, i)
			if !regexp.MustCompile(c.path).MatchString(r.Path()) {
				t.Errorf("%s: got the node %s, want %s", id, r.Path(), c.path)
			}
			wantNode(t, server, r.Path(), i, owner)
			if err := r.Close(); err != nil || server.Exists(r.Path()) {
				t.Errorf("%s: after Close, which says %v, the node is there: %t, want false", id, err, server.Exists(r.Path()))
			}
		}
	})
}

func TestRegisterFillsWhatIsNotSetButTheAddress(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		first, second := register(t, client, discovery.ServiceInstance{Name: "orders"}), register(t, client, discovery.ServiceInstance{Name: "orders"})
		i := first.Instance()
		uuid := regexp.MustCompile("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
		if !uuid.MatchString(i.ID) || i.ID == second.Instance().ID {
			t.Errorf("got the IDs %q and %q, want two random UUIDs", i.ID, second.Instance().ID)
		}
		if !i.Registered.Equal(time.Now().Truncate(time.Millisecond)) || i.Type != discovery.Dynamic || i.Address != "" {
			t.Errorf("got %+v, want it of now, dynamic, and without an address", i)
		}
		wantNode(t, server, orders+"/"+i.ID, i, sessionOf(t, client))
	})
}

func TestAnInstanceIsRegisteredAgainAfterItsSessionAndAfterARemovalByHand(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		r := register(t, client, order("7", 80))
		var heard []bool
		r.OnChange(func(there bool) { heard = append(heard, there) })
		old := sessionOf(t, client)
		server.ExpireSession(old)
		time.Sleep(time.Second)
		if next := sessionOf(t, client); next == old || !r.There() || r.Err() != nil {
			t.Errorf("after the session: got session %x, There %t, Err %v, want another, true, none", next, r.There(), r.Err())
		}
		wantNode(t, server, orders+"/7", r.Instance(), sessionOf(t, client))
		deleteNode(t, server, orders+"/7")
		time.Sleep(time.Second)
		wantNode(t, server, orders+"/7", r.Instance(), sessionOf(t, client))
		synctest.Wait()
		if len(heard) != 4 || heard[0] || !heard[1] || heard[2] || !heard[3] {
			t.Errorf("OnChange has heard %v, want false, true, false, true", heard)
		}
	})
}

func TestAClientRegistersAnIDOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		services := discovery.NewServiceDiscovery(client, base)
		r := register(t, client, order("7", 80))
		if _, err := services.Register(t.Context(), order("7", 81)); !errors.Is(err, nodes.ErrKept) {
			t.Errorf("the second: got %v, want ErrKept", err)
		}
		wantNode(t, server, orders+"/7", r.Instance(), sessionOf(t, client))
		must(t, r.Close())
		if again := register(t, client, order("7", 81)); !again.There() {
			t.Error("after Close the ID is not there again")
		}
	})
}

func TestASecondProcessWaitsUntilTheFirstHasGone(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, server *zktest.Server, first *framework.Client, link *zktest.Link, r *discovery.Registration){
		"by Close": func(t *testing.T, _ *zktest.Server, _ *framework.Client, _ *zktest.Link, r *discovery.Registration) {
			must(t, r.Close())
		},
		"by its death": func(_ *testing.T, _ *zktest.Server, _ *framework.Client, link *zktest.Link, _ *discovery.Registration) {
			link.Cut()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				first, link := newClient(t, server)
				second, _ := newClient(t, server)
				services := discovery.NewServiceDiscovery(second, base)
				r := register(t, first, order("7", 80))
				waiting, enough := context.WithTimeout(t.Context(), time.Minute)
				defer enough()
				if _, err := services.Register(waiting, order("7", 81)); !errors.Is(err, nodes.ErrForeign) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("beside the first: got %v, want ErrForeign and DeadlineExceeded", err)
				}
				wantNode(t, server, orders+"/7", r.Instance(), sessionOf(t, first))
				owner := sessionOf(t, second)
				registered := make(chan *discovery.Registration)
				go func() {
					theirs, err := services.Register(t.Context(), order("7", 81))
					if err != nil {
						t.Error(err)
					}
					registered <- theirs
				}()
				synctest.Wait()
				began := time.Now()
				end(t, server, first, link, r)
				theirs := <-registered
				if took := time.Since(began); took > sessionTimeout+2*time.Second {
					t.Errorf("registered %v after the end of the first, want a session timeout and two ticks at most", took)
				}
				wantNode(t, server, orders+"/7", theirs.Instance(), owner)
				_ = theirs.Close()
			})
		})
	}
}

func TestInstancesOfASequentialTypeShareAnIDAndKeepTheirNodes(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		i := order("7", 80)
		i.Type = discovery.DynamicSequential
		first, second := register(t, client, i), register(t, client, i)
		path := first.Path()
		server.ExpireSession(sessionOf(t, client))
		time.Sleep(time.Second)
		if first.Path() != path || second.Path() == path {
			t.Errorf("got the nodes %s and %s, want %s and another", first.Path(), second.Path(), path)
		}
		wantInstances(t, follow(t, client), "7:80", "7:80")
	})
}

// The process that ran here before has left its node, and the servers will not remove it.
func TestAPermanentInstanceIsTakenOverFromAProcessThatHasEnded(t *testing.T) {
	for _, serviceType := range []discovery.ServiceType{discovery.Static, discovery.Permanent} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			first, _ := newClient(t, server)
			i := order("7", 80)
			i.Type = serviceType
			register(t, first, i)
			must(t, first.Close())
			before, there := server.Stat(orders + "/7")
			second, _ := newClient(t, server)
			i.Port = pointer(65535)
			r := register(t, second, i)
			wantNode(t, server, orders+"/7", r.Instance(), 0)
			if after, _ := server.Stat(orders + "/7"); !there || after.Czxid != before.Czxid {
				t.Errorf("%s: got a node of %x, want that of %x with other data", serviceType, after.Czxid, before.Czxid)
			}
			if err := r.Close(); err != nil || server.Exists(orders+"/7") {
				t.Errorf("%s: after Close, which says %v, the node is there: %t, want false", serviceType, err, server.Exists(orders+"/7"))
			}
		})
	}
}

// Nothing in a node that outlives sessions says whose it is after the second has written it.
func TestAPermanentInstanceThatItsFirstProcessClosesIsMadeAgainByTheOneThatTookItOver(t *testing.T) {
	for _, serviceType := range []discovery.ServiceType{discovery.Static, discovery.Permanent} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			first, _ := newClient(t, server)
			second, _ := newClient(t, server)
			i := order("7", 80)
			i.Type = serviceType
			r := register(t, first, i)
			i.Port = pointer(81)
			successor := register(t, second, i)
			synctest.Wait()
			if got := brief(r.Instance()); !r.There() || !successor.There() || got != "7:80" {
				t.Errorf("%s: the first is there: %t, as %s, the second %t, want both, and 7:80", serviceType, r.There(), got, successor.There())
			}
			before, _ := server.Stat(orders + "/7")
			if err := r.Close(); err != nil {
				t.Errorf("%s: got %v, want none", serviceType, err)
			}
			synctest.Wait()
			wantNode(t, server, orders+"/7", successor.Instance(), 0)
			if after, _ := server.Stat(orders + "/7"); after.Czxid == before.Czxid {
				t.Errorf("%s: got the node of %x, want another", serviceType, after.Czxid)
			}
		})
	}
}

func TestRegisterReportsEverythingThatIsWrongAndMakesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		i := discovery.ServiceInstance{Name: "a/b", ID: "..", Port: pointer(-1), SSLPort: pointer(65536), Payload: json.RawMessage("?"), Type: "SOMETIMES"}
		_, err := discovery.NewServiceDiscovery(nil, "services").Register(t.Context(), i)
		wantTexts(t, err, "discovery: ", `"services"`, "client is nil", `name "a/b"`, `id ".."`, "port: -1", "sslPort: 65536", "payload", "SOMETIMES")
		_, err = discovery.NewServiceDiscovery(client, base).Register(t.Context(), discovery.ServiceInstance{})
		if wantTexts(t, err, `discovery: name "": empty`); strings.Contains(err.Error(), ";") {
			t.Errorf("without a name: got %v, want one error", err)
		}
		if _, err = discovery.NewServiceDiscovery(client, base).Register(t.Context(), i); err == nil || len(server.Children("/")) > 1 {
			t.Errorf("got %v, and the nodes %v, want an error and /zookeeper alone", err, server.Children("/"))
		}
	})
}

// This client looks: there is no node. Another program registers the same ID, and its ACL does not give WRITE. This
// client's create is answered with zk.ErrNodeExists, and its write with zk.ErrNoAuth: Register fails.
func TestRegisterOfAStaticInstanceThatFailsLeavesTheOneThatAnotherHasRegisteredRightBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		register(t, client, order("parent", 80))
		others, mine := order("7", 80), order("7", 81)
		others.Type, mine.Type = discovery.Static, discovery.Static
		others.Registered = time.UnixMilli(5)
		var once sync.Once
		t.Cleanup(server.Observe(func(r zktest.Request) {
			if r.Op == zktest.OpCreate2 && r.Path == orders+"/7" {
				once.Do(func() {
					if err := server.Create(r.Path, data(t, others)); err != nil {
						t.Error(err)
					}
					if err := server.SetACL(r.Path, zktest.ACL{Perms: zk.PermRead, Scheme: "world", ID: "anyone"}); err != nil {
						t.Error(err)
					}
				})
			}
		}))
		if _, err := discovery.NewServiceDiscovery(client, base).Register(t.Context(), mine); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("got %v, want %v", err, zk.ErrNoAuth)
		}
		wantNode(t, server, orders+"/7", others, 0)
	})
}
