//go:build linux

package interop_test

import (
	"fmt"

	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/discovery"
)

// uriSpecs: both languages build the same URIs, and refuse the same specs.
func uriSpecs(w *world) {
	m := newMarket(w, "string", true)
	for i, text := range []string{
		"{scheme}://{address}:{port}/{name}/{id}", "{ssl-port} {registration-time-utc} {service-type}", "no variables",
		"{[}{id}{]}", "{ scheme }|{unknown}|{}", "{scheme", "scheme}", "{{scheme}}", "}{", "{scheme}}",
	} {
		for _, s := range []godriver.Service{
			sample(m.service, m.payload, fmt.Sprintf("full-%d", i), discovery.Dynamic),
			bare(m.service, m.payload, fmt.Sprintf("bare-%d", i)),
		} {
			s.URISpec = text
			_, err := discovery.ParseURISpec(text)
			order := m.java.order("register")
			order.Service = &s
			if a := <-m.java.process.Order(order); (a.Error == "") != (err == nil) {
				m.t.Errorf("URI spec %q: Java says %q, and Go %v", text, a.Error, err)
			}
			if err == nil {
				m.wants(s) // with the URI that Go builds
			}
		}
	}
	m.settle()
}
