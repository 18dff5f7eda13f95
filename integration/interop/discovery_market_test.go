//go:build linux

package interop_test

import (
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/discovery"
)

// A market is one service, with a writer in each language, and with all the ways in which either language reads it.
type market struct {
	*world
	base, service, payload string
	writesEnabled          bool

	java     *contender // writes through javaLink
	provider *contender // chooses an instance
	ours     *discovery.ServiceDiscovery
	client   *framework.Client // through goLink, for ours
	readers  []reader

	javaLink, goLink, readLink *proxy

	registrations map[string]*discovery.Registration // by id
	cache         *discovery.ServiceCache
	events        *serviceEvents              // what the cache has reported
	want          map[string]godriver.Service // by id
}

func newMarket(w *world, payload string, writesEnabled bool) *market {
	w.t.Helper()
	m := &market{
		world: w, base: "/" + name("services"), service: "shop " + payload, payload: payload, writesEnabled: writesEnabled,
		javaLink: newProxy(w.t, w.addr), goLink: newProxy(w.t, w.addr), readLink: newProxy(w.t, w.addr),
		registrations: map[string]*discovery.Registration{}, want: map[string]godriver.Service{},
	}
	jvm := fleet.get(w.t, java)
	m.java = m.theirs(w.clientIn(jvm, java, m.javaLink.addr()), "discovery")
	m.client = w.ourClient(m.goLink.addr())
	m.ours = discovery.NewServiceDiscovery(m.client, m.base)
	m.readers = append(m.readers, m.javaReaders(w.clientIn(jvm, java, m.readLink.addr()))...)
	m.readers = append(m.readers, m.ourReaders(w.ourClient(m.readLink.addr()))...)
	return m
}

// theirs starts a contender of Java.
func (m *market) theirs(c *client, recipe string) *contender {
	m.t.Helper()
	k := c.contender(godriver.Order{
		Recipe: recipe, Path: m.base, Node: m.service, Payloads: m.payload, Enabled: m.writesEnabled,
	})
	k.acquire(within(patience))
	m.t.Cleanup(func() { <-k.process.Order(k.order("release")) })
	return k
}

// wants notes that an instance must be seen, with the URI that Go builds.
func (m *market) wants(s godriver.Service) {
	m.t.Helper()
	ours := asJava(m.t, ourInstance(m.t, s, m.payload, m.writesEnabled))
	s.URI, s.URISpec = ours.URI, ours.URISpec
	m.want[s.ID] = s
}

// order gives an order to Java's discovery.
func (m *market) order(op string, s godriver.Service) {
	m.t.Helper()
	order := m.java.order(op)
	order.Service = &s
	m.done(m.java.process, order)
}

// javaDoes has Java register, update or unregister an instance.
func (m *market) javaDoes(op string, s godriver.Service) {
	m.t.Helper()
	m.order(op, s)
	if op == "unregister" {
		delete(m.want, s.ID)
		return
	}
	m.wants(s)
}

func (m *market) weRegister(s godriver.Service) {
	m.t.Helper()
	ctx, cancel := await.Context(m.t.Context(), m.t, patience, "our registration")
	defer cancel()
	r, err := m.ours.Register(ctx, ourInstance(m.t, s, m.payload, m.writesEnabled))
	if err != nil {
		m.t.Fatal(err)
	}
	m.registrations[s.ID] = r
	m.wants(s)
}

func (m *market) weUpdate(s godriver.Service) {
	m.t.Helper()
	ctx, cancel := await.Context(m.t.Context(), m.t, patience, "our update")
	defer cancel()
	if err := m.registrations[s.ID].Update(ctx, ourInstance(m.t, s, m.payload, m.writesEnabled)); err != nil {
		m.t.Fatal(err)
	}
	m.wants(s)
}

func (m *market) weUnregister(id string) {
	m.t.Helper()
	if err := m.registrations[id].Close(); err != nil {
		m.t.Fatal(err)
	}
	delete(m.want, id)
}
