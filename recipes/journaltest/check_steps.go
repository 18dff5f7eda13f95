package journaltest

import (
	"slices"

	"github.com/gocurator/curator/recipes/internal/steps"
)

// step is one step of a client.
func (c *checker) step(client string, s steps.Step) {
	key := nodeKey{client: client, dir: s.Dir, node: s.Node, hold: s.Hold}
	switch s.Kind {
	case steps.Joined, steps.Dropped, steps.Queued, steps.Unqueued, steps.Refused, steps.Accepted:
		c.registryStep(key, s)
	case steps.Created:
		c.hear(s)
	case steps.Listed:
		c.listed(client, s)
	case steps.Gone:
		if c.tree.node(s.Dir, s.Node) != nil && !c.tree.directory(s.Dir).wasDeleted(s.Node) && !c.behind[s.Session] {
			c.problem("%s hears that %s is gone, which exists", client, join(s.Dir, s.Node))
		}
	case steps.Behind:
		c.behind[s.Session] = true
	case steps.ByView, steps.ByNumber, steps.ByListing:
		c.decided(client, s)
	case steps.Bound, steps.Granted, steps.Ungranted, steps.Ended:
		c.grantStep(client, key, s)
	case steps.Waits, steps.Leaves, steps.Idle, steps.Woken:
		c.localStep(client, s)
	default: // other kinds have no meaning here
	}
}

func (c *checker) registryStep(key nodeKey, s steps.Step) {
	view := viewKey{client: key.client, dir: s.Dir, markers: s.Markers, session: s.Session}
	switch s.Kind {
	case steps.Joined:
		c.views[view] = true
		c.markers[nodeKey{client: key.client, dir: s.Dir}] = s.Markers
	case steps.Dropped:
		delete(c.views, view)
		c.unviewed(s)
	case steps.Queued:
		c.queued[key] = true
		c.hear(s)
	case steps.Unqueued:
		delete(c.queued, key)
	case steps.Refused:
		c.refused[key] = true
	case steps.Accepted:
		delete(c.refused, key)
	default:
	}
}

// unviewed is called when a view is gone: it hears of no more answers.
func (c *checker) unviewed(s steps.Step) {
	if c.tree[s.Dir] == nil {
		return
	}
	for _, n := range c.tree[s.Dir].nodes {
		if n.owner == s.Session {
			n.viewed = false
		}
	}
}

func (c *checker) hear(s steps.Step) {
	if n := c.tree.node(s.Dir, s.Node); n != nil {
		n.heard = true
		return
	}
	c.heardInTime(join(s.Dir, s.Node))
}

// listed checks a listing against the directory of its zxid. Servers whose numbers have ended do not move that.
func (c *checker) listed(client string, s steps.Step) {
	d := c.tree[s.Dir]
	if d == nil || d.ended || c.servers.Keeper {
		return
	}
	got, want := slices.Sorted(slices.Values(s.Names)), d.at(s.Zxid)
	if !slices.Equal(got, want) {
		c.problem("%s has listed %s at %#x: got %q, want %q", client, s.Dir, s.Zxid, got, want)
	}
}

// decided checks a decision against what the servers have: nodes ahead were created before the contender, but for a
// reader in the place of a writer, and so the contender's view has them, or the writer.
func (c *checker) decided(client string, s steps.Step) {
	const mostCertain = 1 << 30 // from here on numbers are no order
	d := c.tree[s.Dir]
	me, ok := placeOf(s.Markers, s.Node)
	if d == nil || !ok || me.number >= mostCertain {
		return
	}
	if !slices.Contains(s.Names, s.Node) {
		c.problem("%s: %s decides (%s) without itself", client, join(s.Dir, s.Node), s.Kind)
	}
	for _, name := range ahead(d, s, me) {
		if s.Admitted {
			c.problem("%s: %s is admitted (%s) behind %s", client, join(s.Dir, s.Node), s.Kind, name)
		}
		if !knows(s, name, d.nodes[name]) {
			c.problem("%s: %s decides (%s) without %s, which is ahead", client, join(s.Dir, s.Node), s.Kind, name)
		}
	}
}

// ahead returns the nodes ahead of a contender that a decision about it may be wrong about: those that it lacks, and
// all if it admits.
func ahead(d *directory, s steps.Step, me place) (names []string) {
	listed := make(map[string]bool, len(s.Names))
	for _, name := range s.Names {
		listed[name] = true
	}
	mine, known := d.made[s.Node] // it may be gone, and the directory made once more
	for name, n := range d.nodes {
		if known && n.created > mine && !n.beside || listed[name] && !s.Admitted {
			continue
		}
		if p, ok := placeOf(s.Markers, name); ok && p.number >= 0 && p.ahead(me) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// knows reports whether a decision's names have a node, or the writer in whose place it is.
func knows(s steps.Step, name string, n *node) bool {
	place, _ := placeOf(s.Markers, name)
	return slices.ContainsFunc(s.Names, func(known string) bool {
		p, ok := placeOf(s.Markers, known)
		return known == name || n.beside && ok && p.writer && p.number == place.number
	})
}

func (c *checker) localStep(client string, s steps.Step) {
	key := nodeKey{client: client, dir: s.Dir, node: s.Local}
	l := c.local[key]
	if l == nil {
		l = &localQueue{}
		c.local[key] = l
	}
	switch s.Kind {
	case steps.Waits:
		l.waiting++
	case steps.Leaves:
		l.waiting--
		if l.waiting < 0 {
			c.problem("%s: more acquires have left the local queue of %s than entered it", client, s.Dir)
		}
	case steps.Idle, steps.Woken:
		if idle := s.Kind == steps.Idle; idle == l.idle {
			c.problem("%s: the node of %s is %s twice", client, s.Dir, s.Kind)
		} else {
			l.idle = idle
		}
	default:
	}
}
