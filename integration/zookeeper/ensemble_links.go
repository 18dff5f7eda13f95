//go:build unix

package zookeeper

import (
	"slices"
)

// Between returns the links between two servers, in both directions.
func (e *Ensemble) Between(a, b *Member) Links { return append(e.OneWay(a, b), e.OneWay(b, a)...) }

// OneWay returns the links over which one server hears another.
func (e *Ensemble) OneWay(from, to *Member) Links {
	called, answered := e.wire(from, to), e.wire(to, from)
	return Links{called.quorum.there, called.election.there, answered.quorum.back, answered.election.back}
}

// Peers returns the links between a server and all others.
func (e *Ensemble) Peers(m *Member) Links {
	var all Links
	for _, peer := range e.members {
		if peer != m {
			all = append(all, e.Between(m, peer)...)
		}
	}
	return all
}

// Heal makes every link whole, those of routes included.
func (e *Ensemble) Heal() {
	for _, w := range e.wires {
		w.quorum.links().Heal()
		w.election.links().Heal()
	}
	for _, m := range e.members {
		m.Clients().Heal()
	}
	e.mu.Lock()
	routes := slices.Clone(e.routes)
	e.mu.Unlock()
	for _, p := range routes {
		p.links().Heal()
	}
}

// Restart kills every server that runs and starts all again, with other settings if change is not nil; it returns when
// they serve. How many servers there are cannot be changed.
func (e *Ensemble) Restart(change func(*EnsembleConfig)) {
	for _, m := range e.members {
		m.Kill()
	}
	if change != nil {
		e.mu.Lock()
		change(&e.config)
		err := e.configure()
		e.mu.Unlock()
		if err != nil {
			e.t.Errorf("zookeeper: restart: %v", err)
		}
	}
	for _, m := range e.members {
		m.Start()
	}
	e.AwaitServing()
}
