package discovery_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/printtest"
	"github.com/gocurator/curator/recipes/discovery"
)

func TestNoExportedTypeShowsACredential(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server, framework.WithAuthorization("digest", []byte(printtest.Credentials)))
		r, c := register(t, client, order("a", 80)), follow(t, client)
		synctest.Wait() // no goroutine of the client writes while fields are read
		printtest.WantNoCredentials(t, ".", map[string]any{
			"Event": discovery.Event{Node: "a"}, "Registration": r, "ServiceCache": c, "ServiceInstance": order("a", 80),
			"ServiceDiscovery": discovery.NewServiceDiscovery(client, base), "ServiceType": discovery.Static,
			"URIPart": part("scheme", true), "URISpec": parsed(t, "{scheme}"),
		})
		for _, value := range []any{r, c} {
			for form, text := range printtest.Texts(value) {
				if !strings.Contains(text, orders) {
					t.Errorf("%T as %s: got %s, want its path", value, form, text)
				}
			}
		}
		var noRegistration *discovery.Registration
		var noCache *discovery.ServiceCache
		for _, none := range []any{noRegistration, noCache} {
			for form, text := range printtest.Texts(none) {
				if !strings.Contains(text, "<nil>") {
					t.Errorf("%T as %s: got %s, want <nil>", none, form, text)
				}
			}
		}
	})
}

func TestCachesAndRegistrationsArePrintedWhileTheyChange(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		r, c := register(t, client, order("a", 80)), follow(t, client)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 100 {
				printtest.Forms(r)
				printtest.Forms(c)
			}
		}()
		for port := range 20 {
			if err := r.Update(t.Context(), order("a", port)); err != nil {
				t.Error(err)
			}
			for range c.Instances() {
				continue
			}
		}
		<-done
	})
}
