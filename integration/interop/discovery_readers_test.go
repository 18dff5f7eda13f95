//go:build linux

package interop_test

import (
	"errors"
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/discovery"
)

// A reader returns the instances of the service.
type reader struct {
	name        string
	enabledOnly bool
	read        func() ([]godriver.Service, error)
}

func (m *market) javaReaders(c *client) []reader {
	m.t.Helper()
	m.provider = m.theirs(c, "serviceprovider")
	ask := func(k *contender, op string) func() ([]godriver.Service, error) {
		return func() ([]godriver.Service, error) {
			order := k.order(op)
			order.Node = m.service
			a := <-k.process.Order(order)
			if a.Error != "" {
				return nil, errors.New(a.Error)
			}
			return a.Services, nil
		}
	}
	cache := m.theirs(c, "servicecache")
	return []reader{
		{"Java's queryForInstances", false, ask(m.theirs(c, "discovery"), "instances")},
		{"Java's ServiceCache", false, ask(cache, "report")},
		{"Java's ServiceCacheListener", false, newest(cache.events)},
		{"Java's ServiceProvider", true, ask(m.provider, "report")},
	}
}

// newest returns what came with the last event.
func newest(events <-chan godriver.Answer) func() ([]godriver.Service, error) {
	var last godriver.Answer
	return func() ([]godriver.Service, error) {
		for {
			select {
			case last = <-events:
			default:
				return last.Services, nil
			}
		}
	}
}

func (m *market) ourReaders(client *framework.Client) []reader {
	m.t.Helper()
	d := discovery.NewServiceDiscovery(client, m.base)
	m.cache = d.NewServiceCache(m.service)
	ctx, cancel := await.Context(m.t.Context(), m.t, patience, "our service cache to start")
	defer cancel()
	if err := m.cache.Start(ctx); err != nil {
		m.t.Fatal(err)
	}
	m.events = &serviceEvents{}
	stop := m.cache.OnEvent(m.events.add)
	m.t.Cleanup(func() {
		stop()
		if err := m.cache.Close(); err != nil {
			m.t.Errorf("close our service cache: %v", err)
		}
	})
	return []reader{
		{"our Instances", false, func() ([]godriver.Service, error) {
			ctx, cancel := await.Context(m.t.Context(), m.t, patience, "our Instances")
			defer cancel()
			all, err := d.Instances(ctx, m.service)
			return m.asJava(all), err
		}},
		{"our ServiceCache", false, func() ([]godriver.Service, error) {
			return m.asJava(slices.Collect(m.cache.Instances())), m.cache.Err()
		}},
	}
}

func (m *market) asJava(all []discovery.ServiceInstance) []godriver.Service {
	var services []godriver.Service
	for _, i := range all {
		services = append(services, asJava(m.t, i))
	}
	return services
}

// settle waits until each reader has the instances that are wanted.
func (m *market) settle() {
	m.t.Helper()
	for _, r := range m.readers {
		m.settleOne(r)
	}
}

func (m *market) settleOne(r reader) {
	m.t.Helper()
	var enabled []godriver.Service
	for _, s := range m.want {
		if s.Enabled || !r.enabledOnly {
			enabled = append(enabled, s)
		}
	}
	want := listed(m.t, enabled)
	var got string
	var err error
	if !await.Within(patience, func() bool {
		var all []godriver.Service
		all, err = r.read()
		got = listed(m.t, all)
		return err == nil && got == want
	}) {
		await.Fatalf(m.t, "%s: got\n%s(error %v), want\n%s", r.name, got, err, want)
	}
}

// sync waits until our cache has what the server has now, and has reported it.
func (m *market) sync() {
	m.t.Helper()
	ctx, cancel := await.Context(m.t.Context(), m.t, patience, "our service cache to be up to date")
	defer cancel()
	if err := m.cache.Sync(ctx); err != nil {
		m.t.Fatal(err)
	}
}
