package journaltest

import (
	"slices"
	"time"
)

// ends are what ends leases from outside: administrators kill sessions, and processes die.
type ends struct {
	events  []Event
	killed  map[int64]time.Time // by session
	clients map[int64]string    // by session
	died    map[string]bool     // by client
}

func newEnds(events []Event) ends {
	known := ends{events: events, killed: map[int64]time.Time{}, clients: map[int64]string{}, died: map[string]bool{}}
	for _, e := range events {
		switch {
		case e.Killed != 0:
			known.killed[e.Killed] = e.At
		case e.Died:
			known.died[e.Client] = true
		case e.Step != nil && e.Step.Session != 0:
			known.clients[e.Step.Session] = e.Client
		default:
		}
	}
	return known
}

// isKilled reports whether an administrator has begun to end a session by now. The time of a transaction is rounded
// down, and so its event may stand before the administrator's.
func (c *checker) isKilled(session int64) bool {
	at, ok := c.ends.killed[session]
	return ok && !at.After(c.at.Add(c.servers.Accuracy))
}

// die takes the leases of a client whose process has ended: only their sessions bound them.
func (c *checker) die(client string) {
	for path, grants := range c.grants {
		for key, g := range grants {
			if key.client == client {
				g.ended = true
				delete(grants, key)
				delete(c.lasting, key)
			}
		}
		if len(grants) == 0 {
			delete(c.grants, path)
		}
	}
}

// hasDied reports whether the process of a client ended that may not have found its orphan yet.
func (c *checker) hasDied(u unheard) bool {
	return c.ends.died[c.ends.clients[c.ends.events[u.number].Transaction.Session]]
}

// heardInTime is called when a client hears of a node that is not there. It may have asked for the removal right after
// that: the time of the removal is rounded down, and so its event may stand before the client's.
func (c *checker) heardInTime(path string) {
	c.unheard = slices.DeleteFunc(c.unheard, func(u unheard) bool {
		return u.path == path && c.at.Sub(c.ends.events[u.number].At) < c.servers.Accuracy
	})
}
