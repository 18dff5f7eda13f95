package journaltest

import (
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
)

type grant struct {
	session int64
	ended   bool
	until   time.Time // once it has ended
	removed time.Time // its session has removed the node; zero if not
}

// Two grants are beside each other if one was registered before the other was known to have ended. That is right if it
// had ended nevertheless.
type beside struct {
	number         int
	at             time.Time
	earlier        *grant
	client, newer  string
	holder, before string
}

func (c *checker) grantStep(client string, key nodeKey, s steps.Step) {
	if s.Kind == steps.Ungranted {
		delete(c.registered, key)
		return
	}
	path := join(key.dir, key.node)
	g := c.grants[path][key]
	if g == nil {
		g = &grant{session: s.Session}
		if c.grants[path] == nil {
			c.grants[path] = map[nodeKey]*grant{}
		}
		c.grants[path][key] = g
	}
	switch s.Kind {
	case steps.Granted:
		c.registered[key] = true
		if !g.ended {
			c.exclusive(client, key, g)
			c.lasting[key] = g
		}
	case steps.Ended:
		g.ended, g.until = true, s.Until
		delete(c.lasting, key)
		c.checkEnd(key, g)
	default:
	}
}

// exclusive checks a new grant against those that last.
func (c *checker) exclusive(client string, key nodeKey, g *grant) {
	markers := c.markers[nodeKey{client: client, dir: key.dir}]
	me, ok := placeOf(markers, key.node)
	if !ok {
		return // a semaphore: several contenders' nodes may have leases
	}
	for other, o := range c.lasting {
		p, ok := placeOf(markers, other.node)
		switch {
		case !ok, other.dir != key.dir, p.shared && me.shared:
		case other.node == key.node && (other.hold == 0) != (key.hold == 0): // a hold and its node's grant
		case me.shared && p.writer && p.number == me.number && o.session == g.session: // the writer reads on
		default:
			c.beside = append(c.beside, beside{
				number: c.number, at: c.at, earlier: o, client: client, newer: join(key.dir, key.node), before: other.node, holder: other.client,
			})
		}
	}
}

// removed is called when a session has removed a node of its own, or has ended.
func (c *checker) removed(t zktest.Transaction, dir, name string, n *node) {
	if n.viewed && !n.heard && !n.beside && !t.EndsSession {
		c.unheard = append(c.unheard, unheard{c.number, join(dir, name)})
	}
	for key, g := range c.grants[join(dir, name)] {
		g.removed = c.at
		c.checkEnd(key, g)
	}
}

// robbed is called when another session, or an administrator, has removed a node: its holder hears of that later.
func (c *checker) robbed(dir, name string) {
	for key := range c.grants[join(dir, name)] {
		delete(c.lasting, key)
	}
	delete(c.grants, join(dir, name))
}

// checkEnd checks a grant that has ended and whose session has removed the node, in either order. Then it is over.
func (c *checker) checkEnd(key nodeKey, g *grant) {
	if !g.ended || g.removed.IsZero() {
		return
	}
	if g.until.After(g.removed.Add(c.servers.Accuracy)) {
		c.problem("%s: the lease of %s ends at %s, its session removes the node at %s",
			key.client, join(key.dir, key.node), clock(g.until), clock(g.removed))
	}
	path := join(key.dir, key.node)
	delete(c.grants[path], key)
	if len(c.grants[path]) == 0 {
		delete(c.grants, path)
	}
}
