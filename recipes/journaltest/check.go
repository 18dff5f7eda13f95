package journaltest

import (
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// Check goes through the events once and returns what must not have happened, with the number of the event. It judges
// each event by what came before it:
//
//   - A contender that decides, by a view or a listing, lacks neither its own node nor one ahead of it. It is admitted
//     only if no node ahead excludes it.
//   - A listing equals the directory at the moment that it claims.
//   - A deletion that a client has heard of was executed, unless the session has given up what it knew of the servers.
//   - A lease ends before its session removes the node, or ends itself. No two leases that exclude each other last at a
//     time; nor do two holds of one node.
//   - A node whose creation no answer confirmed, and that its client removes, is reported.
//   - An acquire leaves the local queue that it has entered, and an idle node is taken out before it is idle again.
//
// A client whose process dies cannot report the end of its leases, nor an orphan, and need not.
func Check(events []Event, servers Servers) []Problem {
	c := newChecker(servers)
	c.ends = newEnds(events)
	for i, e := range events {
		c.number, c.at = i, e.At
		switch {
		case e.Step != nil:
			c.step(e.Client, *e.Step)
		case e.Transaction != nil:
			c.transaction(*e.Transaction)
		case e.Died:
			c.die(e.Client)
		case e.Orphan != "":
			c.orphans[e.Orphan] = true
		default: // Killed is known
		}
	}
	c.finish()
	return c.problems
}

// Servers are those that the events are of. The zero value is zktest's.
type Servers struct {
	// Accuracy is how exact the times of transactions are: a millisecond for logs.
	Accuracy time.Duration
	// Keeper says that they do not note deletions in the zxid of a directory.
	Keeper bool
}

// Left returns what the clients still have at the end of the events: views, nodes, grants, refusals, waiters and idle
// nodes.
func Left(events []Event) []string {
	c := newChecker(Servers{})
	for _, e := range events {
		if e.Step != nil {
			c.step(e.Client, *e.Step)
		}
	}
	var left []string
	for key := range c.views {
		left = append(left, fmt.Sprintf("view of %s", key.dir))
	}
	for key := range c.queued {
		left = append(left, fmt.Sprintf("node %s in %s", key.node, key.dir))
	}
	for key := range c.registered {
		left = append(left, fmt.Sprintf("grant of %s in %s", key.node, key.dir))
	}
	for key := range c.refused {
		left = append(left, fmt.Sprintf("refusal of %s", join(key.dir, key.node)))
	}
	for key, l := range c.local {
		if l.waiting != 0 || l.idle {
			left = append(left, fmt.Sprintf("%d waiters, idle node: %t, at %s", l.waiting, l.idle, key.dir))
		}
	}
	slices.Sort(left)
	return left
}

// A checker is the state: what the servers have, and what each client believes of it.
type checker struct {
	servers  Servers
	number   int
	at       time.Time
	problems []Problem

	tree    tree
	views   map[viewKey]bool
	markers map[nodeKey]string // by client and directory: those of the newest view
	queued  map[nodeKey]bool

	registered map[nodeKey]bool
	grants     map[string]map[nodeKey]*grant // by the node's path, until they are over and checked
	lasting    map[nodeKey]*grant            // registered, and not ended
	refused    map[nodeKey]bool
	local      map[nodeKey]*localQueue
	orphans    map[string]bool
	ends       ends
	behind     map[int64]bool // sessions that may go on at a server behind what they know
	unheard    []unheard
	beside     []beside
}

type viewKey struct {
	client, dir, markers string
	session              int64
}

// A nodeKey names what a client has: a node, a hold of it, a directory.
type nodeKey struct {
	client, dir, node string
	hold              int64
}

type localQueue struct {
	waiting int
	idle    bool
}

// An unheard node was deleted by its session, which has not known of it before.
type unheard struct {
	number int
	path   string
}

func newChecker(servers Servers) *checker {
	return &checker{
		servers: servers, tree: tree{}, views: map[viewKey]bool{}, markers: map[nodeKey]string{}, queued: map[nodeKey]bool{},
		grants: map[string]map[nodeKey]*grant{}, lasting: map[nodeKey]*grant{}, registered: map[nodeKey]bool{},
		refused: map[nodeKey]bool{}, local: map[nodeKey]*localQueue{}, orphans: map[string]bool{}, behind: map[int64]bool{},
	}
}

// A Problem is what must not have happened.
type Problem struct {
	Event int // its number
	At    time.Time
	Text  string
}

// Error is the problem with its place in the journal.
func (p Problem) Error() string { return fmt.Sprintf("event %d, %s: %s", p.Event, clock(p.At), p.Text) }

func (c *checker) problem(format string, args ...any) {
	c.problems = append(c.problems, Problem{c.number, c.at, fmt.Sprintf(format, args...)})
}

func (c *checker) transaction(t zktest.Transaction) {
	for _, change := range t.Changes {
		dir, name := splitPath(change.Path)
		switch change.Kind {
		case zktest.Created:
			beside := c.isBeside(dir, name, change.Owner)
			n := c.tree.change(t.Zxid, change)
			n.beside, n.viewed = beside, c.isViewed(dir, change.Owner)
			c.tree[dir].ended = c.tree[dir].ended || isLast(name)
		case zktest.Deleted:
			n := c.tree.change(t.Zxid, change)
			switch {
			case n == nil || n.owner == 0:
			case n.owner == t.Session && (!t.EndsSession || !c.isKilled(t.Session)):
				c.removed(t, dir, name, n)
			default:
				c.robbed(dir, name)
			}
		default:
		}
	}
}

// isBeside reports whether a new reader takes the place of a writer of its session.
func (c *checker) isBeside(dir, name string, owner int64) bool {
	for key, markers := range c.markers {
		me, ok := placeOf(markers, name)
		if key.dir != dir || !ok || !me.shared {
			continue
		}
		for other, n := range c.tree.directory(dir).nodes {
			if p, ok := placeOf(markers, other); ok && p.writer && p.number == me.number && n.owner == owner {
				return true
			}
		}
	}
	return false
}

func (c *checker) isViewed(dir string, session int64) bool {
	for key := range c.views {
		if key.dir == dir && key.session == session {
			return true
		}
	}
	return false
}

// finish checks what only the end shows.
func (c *checker) finish() {
	for path, grants := range c.grants {
		for key, g := range grants {
			if !g.ended && !g.removed.IsZero() {
				c.problem("%s: the lease of %s has not ended, its session removes the node at %s", key.client, path, clock(g.removed))
			}
		}
	}
	for _, b := range c.beside {
		if !b.earlier.ended || b.earlier.until.After(b.at.Add(c.servers.Accuracy)) {
			c.problem("%s: %s is granted beside %s of %s, at event %d, %s", b.client, b.newer, b.before, b.holder, b.number, clock(b.at))
		}
	}
	for _, u := range c.unheard {
		if !c.orphans[u.path] && !c.hasDied(u) {
			c.problem("%s, of a create that was not answered, is removed at event %d and not reported", u.path, u.number)
		}
	}
}

func clock(t time.Time) string { return t.Format("04:05.000000") }

func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}
