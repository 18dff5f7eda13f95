package observability

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

// wantRegistrations compares for how long registrations have been missing, how often they went and came back; "" is no
// value.
func (w world) wantRegistrations(t *testing.T, when, missing, losses, returns string) {
	t.Helper()
	synctest.Wait()
	for name, want := range map[string]string{"missing_seconds": missing, "losses_total": losses, "reregistrations_total": returns} {
		if got := strings.Join(series(t, w.registry, "curator_registration_"+name), ", "); got != want {
			t.Errorf("%s: got %s %q, want %q", when, name, got, want)
		}
	}
	for name, want := range map[string]string{"missing.duration": missing, "reregistrations": returns} {
		if got := strings.Join(w.points(t, "registration.client."+name), ", "); got != want {
			t.Errorf("%s: got %s %q in OpenTelemetry, want %q", when, name, got, want)
		}
	}
}

// wantRegistrationLost compares the losses of which both systems know the cause: "" is none.
func (w world) wantRegistrationLost(t *testing.T, when string, want string) {
	t.Helper()
	synctest.Wait()
	for system, all := range map[string][]string{
		"Prometheus": series(t, w.registry, "curator_registration_lost_causes_total"), "OpenTelemetry": w.points(t, "registration.client.losses"),
	} {
		if len(all) != len(session.LossKinds()) {
			t.Errorf("%s, %s: got %q, want each cause", when, system, all)
		}
		all = slices.DeleteFunc(all, func(s string) bool { return strings.HasSuffix(s, " 0") })
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%s, %s: got %q, want %q", when, system, got, want)
		}
	}
}

func TestRegistrationsAreShownWhileTheyLast(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		link := w.server.NewLink()
		client := w.client(t, link.DialContext)
		node := nodes.NewPersistentNode(client, "/orders", nil)
		w.WatchRegistration("orders", node)
		w.wantRegistrations(t, "before the start", "", "", "")
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantRegistrations(t, "started", "orders 0", "orders 0", "orders 0")
		w.wantRegistrationLost(t, "started", "")

		s, err := client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		link.Cut()
		<-s.Done()
		time.Sleep(7 * time.Second)
		w.wantRegistrations(t, "its session has ended", "orders 7", "orders 1", "orders 0")
		w.wantRegistrationLost(t, "its session has ended", "not-reached orders 1")
		link.Heal()
		time.Sleep(time.Minute)
		w.wantRegistrations(t, "registered again", "orders 0", "orders 1", "orders 1")

		if err := node.Close(); err != nil {
			t.Fatal(err)
		}
		w.wantRegistrations(t, "closed", "", "", "")
	})
}

func TestRegistrationIsTheLastOneOfItsName(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		client := w.client(t, w.server.DialContext)
		for _, path := range []string{"/one", "/two"} {
			node := nodes.NewPersistentNode(client, path, nil)
			if err := node.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.WatchRegistration("orders", node)
			w.wantRegistrations(t, path, "orders 0", "orders 0", "orders 0")
		}
		if err := w.server.Delete("/one"); err != nil {
			t.Fatal(err)
		}
		w.wantRegistrations(t, "the first was deleted", "orders 0", "orders 0", "orders 0")
	})
}

// A removal may be the end of the session, as long as no server has answered; counters do not go back.
func TestRemovalOfARegistrationIsCountedWhenItIsCertain(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		link := w.server.NewLink()
		node := nodes.NewPersistentNode(w.client(t, link.DialContext), "/orders", nil)
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.WatchRegistration("orders", node)
		for range 2 {
			if err := w.server.Delete("/orders"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		w.wantRegistrationLost(t, "made again twice", "node-removed orders 2")

		nobody := zktest.ACL{Perms: zk.PermRead | zk.PermDelete, Scheme: "world", ID: "anyone"}
		if err := w.server.SetACL("/", nobody); err != nil {
			t.Fatal(err)
		}
		if err := w.server.Delete("/orders"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(settled / 2)
		w.wantRegistrationLost(t, "removed, and may not be made", "node-removed orders 2")
		time.Sleep(settled)
		w.wantRegistrationLost(t, "a minute later", "node-removed orders 3")
	})
}
