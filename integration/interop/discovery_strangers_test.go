//go:build linux

package interop_test

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/discovery"
)

// strangers: an instance whose payload is of another class fails every query of Java's, and is missing in its cache. To
// Go it is one more instance. A node that has none is missing, and reported.
func strangers(w *world) {
	m := newMarket(w, "job", false)
	m.javaDoes("register", sample(m.service, m.payload, "java-1", discovery.Dynamic))
	m.weRegister(sample(m.service, m.payload, "go-1", discovery.Dynamic))
	m.settle()

	ctx, cancel := await.Context(m.t.Context(), m.t, patience, "a registration of another class")
	defer cancel()
	stranger := sample(m.service, "map", "go-stranger", discovery.Dynamic)
	instance := ourInstance(m.t, stranger, "map", false)
	if _, err := m.ours.Register(ctx, instance); err != nil {
		m.t.Fatal(err)
	}
	stranger.URI = instance.URISpec.Build(instance, nil)
	m.checkStrangers(stranger, "")

	node := m.base + "/" + m.service + "/no instance"
	if _, err := m.observer.Create(node, []byte(`{"name":`), 0, worldACL); err != nil {
		m.t.Fatal(err)
	}
	m.checkStrangers(stranger, node)
	if err := m.observer.Delete(node, -1); err != nil {
		m.t.Fatal(err)
	}
	m.checkStrangers(stranger, "")
}

// checkStrangers checks what each reader makes of a stranger, and of a node that is no instance, if there is one.
func (m *market) checkStrangers(stranger godriver.Service, undecodable string) {
	m.t.Helper()
	for _, r := range m.readers {
		switch {
		case r.name == "Java's queryForInstances":
			if all, err := r.read(); err == nil {
				m.t.Errorf("%s, beside a payload of another class: got %+v, want an error for all", r.name, all)
			}
		case strings.HasPrefix(r.name, "Java"):
			m.settleOne(r)
		default:
			m.want[stranger.ID] = stranger
			m.settleOne(m.expecting(r, undecodable))
			delete(m.want, stranger.ID)
		}
	}
	await.Until(m.t, patience, "our cache to report what it cannot decode", func() bool {
		bad := slices.Collect(maps.Keys(m.cache.Bad()))
		return undecodable == "" && bad == nil || slices.Equal(bad, []string{last(undecodable)})
	})
}

// expecting is a reader of ours, whose error beside the instances must name the node that is undecodable, if there is
// one.
func (m *market) expecting(r reader, undecodable string) reader {
	if undecodable == "" || r.name != "our Instances" {
		return r
	}
	read := r.read
	r.read = func() ([]godriver.Service, error) {
		all, err := read()
		if !errors.Is(err, discovery.ErrBadInstance) || !strings.Contains(err.Error(), undecodable) {
			m.t.Errorf("%s beside %s: got the error %v, want one of that node", r.name, undecodable, err)
		}
		return all, nil
	}
	return r
}
