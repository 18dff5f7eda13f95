package discovery_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestAnUpdateReplacesWhatTheNodeHasAndLaterNodesHaveIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		i := order("7", 0)
		i.SSLPort, i.Payload = pointer(65535), []byte(`{"load":1}`)
		r := register(t, client, i)
		registered := r.Instance().Registered
		time.Sleep(time.Minute)
		must(t, r.Update(t.Context(), order("7", 81)))
		want := order("7", 81)
		want.Registered = registered
		wantNode(t, server, orders+"/7", want, sessionOf(t, client))
		server.ExpireSession(sessionOf(t, client))
		time.Sleep(time.Second)
		wantNode(t, server, orders+"/7", want, sessionOf(t, client))
		want.Registered = time.Now().Add(time.Hour)
		must(t, r.Update(t.Context(), want))
		wantNode(t, server, orders+"/7", want, sessionOf(t, client))
		if got := r.Instance(); brief(got) != "7:81" || !got.Registered.Equal(want.Registered.Truncate(time.Millisecond)) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

// The watch shows the data of the update before for a moment.
func TestAnUpdateBackToWhatTheNodeHadBeforeIsWritten(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		r := register(t, client, order("7", 80))
		for _, port := range []int{81, 80, 81, 80} {
			must(t, r.Update(t.Context(), order("7", port)))
			wantNode(t, server, orders+"/7", r.Instance(), sessionOf(t, client))
		}
	})
}

func TestAnUpdateOfAnotherInstanceIsRefusedWithEverythingThatIsWrong(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		r := register(t, client, order("7", 80))
		for name, change := range map[string]func(i *discovery.ServiceInstance){
			"name": func(i *discovery.ServiceInstance) { i.Name = "bills" },
			"id":   func(i *discovery.ServiceInstance) { i.ID = "8" },
			"type": func(i *discovery.ServiceInstance) { i.Type = discovery.Static },
		} {
			i := order("7", 81)
			change(&i)
			err := r.Update(t.Context(), i)
			if wantTexts(t, err, "discovery: ", "cannot be changed"); err == nil {
				t.Errorf("another %s: got no error", name)
			}
			i.Port = pointer(-1)
			wantTexts(t, r.Update(t.Context(), i), "discovery: ", "cannot be changed", "port: -1")
		}
		wantNode(t, server, orders+"/7", r.Instance(), sessionOf(t, client))
		if got := brief(r.Instance()); got != "7:80" {
			t.Errorf("got %s, want 7:80", got)
		}
	})
}

// The first ends within the session, the second after it.
func TestAnUpdateDuringAnOutageIsWrittenWhenItIsOver(t *testing.T) {
	for _, outage := range []time.Duration{sessionTimeout / 2, 2 * sessionTimeout} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, link := newClient(t, server)
			r := register(t, client, order("7", 80))
			old := r.Instance()
			link.Cut()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := r.Update(ctx, order("7", 81)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("outage of %v: got %v, want DeadlineExceeded", outage, err)
			}
			updated := make(chan error)
			go func() { updated <- r.Update(t.Context(), order("7", 82)) }()
			time.Sleep(outage - time.Second)
			select {
			case err := <-updated:
				t.Errorf("outage of %v: got %v, want Update to wait", outage, err)
			default:
			}
			if got, there := server.Data(orders + "/7"); there && string(got) != string(data(t, old)) {
				t.Errorf("outage of %v: got %s during it", outage, got)
			}
			link.Heal()
			if err := <-updated; err != nil {
				t.Errorf("outage of %v: got %v, want none", outage, err)
			}
			wantNode(t, server, orders+"/7", r.Instance(), sessionOf(t, client))
			if got := brief(r.Instance()); got != "7:82" {
				t.Errorf("outage of %v: got %s, want 7:82", outage, got)
			}
		})
	}
}

// The node goes with its session, and no later session makes it again.
func TestACloseDuringAnOutageEndsAndTheNodeDoesNotComeBack(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server, framework.WithConnectionTimeout(2*time.Second))
		r := register(t, client, order("7", 80))
		link.Cut()
		began := time.Now()
		if err := r.Close(); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 2*time.Second {
			t.Errorf("got %v after %v, want DeadlineExceeded after the connection timeout at most", err, time.Since(began))
		}
		time.Sleep(3 * sessionTimeout)
		link.Heal()
		time.Sleep(3 * sessionTimeout)
		if server.Exists(orders + "/7") {
			t.Error("the node is there, want it to have gone")
		}
		if err := r.Update(t.Context(), order("7", 81)); !errors.Is(err, nodes.ErrClosed) || !errors.Is(r.Err(), nodes.ErrClosed) || r.There() {
			t.Errorf("after Close: got Update %v, Err %v, There %t, want ErrClosed twice and false", err, r.Err(), r.There())
		}
	})
}
