//go:build linux

package interop_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/discovery"
)

var discoveryStories = []story{
	{"URI specs", uriSpecs},
	{"payloads of a class", func(w *world) { trade(newMarket(w, "job", true)) }},
	{"payloads that are maps", func(w *world) { trade(newMarket(w, "map", false)) }},
	{"payloads of Spring Cloud", func(w *world) { trade(newMarket(w, "spring", false)) }},
	{"payloads that are texts", func(w *world) { trade(newMarket(w, "string", true)) }},
	{"payloads that are large numbers", func(w *world) { trade(newMarket(w, "long", false)) }},
	{"an instance of another class, and a node that is none", strangers},
	{"writers connect again", reconnections},
	{"a Java process is killed", kill},
	{"our session ends", sessionOver},
	{"our session ends while Java's cache is cut off", sessionOverUnseen},
	{"sequential instances", sequentials},
	{"one id in both languages", sameID},
}

func TestServicesOfJavaAndGo(t *testing.T) { playAll(t, discoveryStories) }

var serviceTypes = []discovery.ServiceType{
	discovery.Dynamic, discovery.DynamicSequential, discovery.Static, discovery.Permanent,
}

// trade has both languages register instances of all types, change them, and take them back.
func trade(m *market) {
	for _, kind := range serviceTypes {
		m.javaDoes("register", sample(m.service, m.payload, "java-"+string(kind), kind))
		m.weRegister(sample(m.service, m.payload, "go-"+string(kind), kind))
	}
	m.javaDoes("register", bare(m.service, m.payload, "java-bare"))
	m.weRegister(bare(m.service, m.payload, "go-bare"))
	if m.writesEnabled {
		for _, s := range []godriver.Service{
			sample(m.service, m.payload, "java-disabled", discovery.Static), sample(m.service, m.payload, "go-disabled", discovery.Static),
		} {
			s.Enabled = false
			if strings.HasPrefix(s.ID, "java") {
				m.javaDoes("register", s)
			} else {
				m.weRegister(s)
			}
		}
	}
	m.settle()
	m.compareBytes()
	m.checkNames()
	m.checkProvider()

	for _, kind := range []discovery.ServiceType{discovery.Dynamic, discovery.Static} {
		for _, language := range []string{java, ours} {
			s := m.want[language+"-"+string(kind)]
			port := 9090
			s.Port, s.SSLPort, s.URI, s.Address = &port, nil, "", "changed"
			if language == java {
				m.javaDoes("update", s)
			} else {
				m.weUpdate(s)
			}
		}
	}
	m.settle()
	m.compareBytes()

	sequential := "java-" + string(discovery.DynamicSequential) // Curator cannot unregister it
	for _, id := range slices.Sorted(maps.Keys(m.want)) {
		switch {
		case id == sequential:
		case strings.HasPrefix(id, java):
			m.javaDoes("unregister", m.want[id])
		default:
			m.weUnregister(id)
		}
	}
	m.settle()
}

// compareBytes compares the nodes of both languages, whose instances differ by their ids alone.
func (m *market) compareBytes() {
	m.t.Helper()
	written := map[string][]byte{}
	for id := range m.want {
		language, rest, _ := strings.Cut(id, "-")
		node := m.base + "/" + m.service + "/" + m.node(id)
		data, stat, err := m.observer.Get(node)
		if err != nil {
			m.t.Fatalf("read %s: %v", node, err)
		}
		dynamic := !strings.HasSuffix(rest, "STATIC") && !strings.HasSuffix(rest, "PERMANENT") && rest != "disabled"
		if got := stat.EphemeralOwner != 0; got != dynamic {
			m.t.Errorf("%s: ephemeral? got %v, want %v", node, got, dynamic)
		}
		data = bytes.ReplaceAll(data, []byte(id), []byte("ID"))
		if other := written[rest]; other != nil && !bytes.Equal(data, other) {
			m.t.Errorf("what %s writes of %s differs from what the other writes:\n%s\n%s", language, rest, data, other)
		}
		written[rest] = data
	}
	if got, want := len(written), len(m.want)/2; got != want {
		m.t.Errorf("got %d pairs of instances, want %d", got, want)
	}
}

// checkNames checks that both languages find the service.
func (m *market) checkNames() {
	m.t.Helper()
	ctx, cancel := await.Context(m.t.Context(), m.t, patience, "our Names")
	defer cancel()
	got, err := m.ours.Names(ctx)
	if theirs := m.done(m.java.process, m.java.order("names")).IDs; err != nil || !slices.Equal(got, theirs) || !slices.Equal(got, []string{m.service}) {
		m.t.Errorf("names: Java has %q, we have %q, %v, want %q", theirs, got, err, m.service)
	}
}

// checkProvider checks that Java's provider gives out each enabled instance once before it begins again.
func (m *market) checkProvider() {
	m.t.Helper()
	var got, want []godriver.Service
	for _, s := range m.want {
		if s.Enabled {
			want = append(want, s)
			got = append(got, m.done(m.provider.process, m.provider.order("instance")).Services...)
		}
	}
	if got, want := listed(m.t, got), listed(m.t, want); got != want {
		m.t.Errorf("Java's provider, as many times as there are enabled instances: got\n%s, want\n%s", got, want)
	}
}
