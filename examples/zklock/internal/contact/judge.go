package contact

import (
	"slices"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
)

// Client judges the client of a session by what the servers have answered.
func (r *Report) Client(session int64) Client {
	c := Client{Heard: -1, Left: -1}
	r.connection(&c, session)
	if ended := r.end(&c, session); ended && c.Address == "" {
		return Client{State: Ended, Timeout: c.Timeout, Heard: -1, Left: -1}
	}
	c.State = c.state(r.listed())
	return c
}

// listed reports whether any server has listed its connections, and whether all have.
func (r *Report) listed() (some, all bool) {
	silent := 0
	for _, a := range r.Answers {
		if a.Cons != nil {
			silent++
		}
	}
	return silent < len(r.Answers), silent == 0 && len(r.Answers) > 0
}

// connection finds the session's connection. A session that has just moved may be at two servers. Which response is the
// later one is not known, since each server has a clock of its own: the one that says when it was heard wins.
func (r *Report) connection(c *Client, session int64) {
	for _, a := range r.Answers {
		for _, found := range a.Connections {
			if found.Session != session {
				continue
			}
			heard := a.heard(r.Own, found)
			if c.Address != "" && (heard < 0 || c.Heard >= 0 && c.Heard <= heard) {
				continue
			}
			c.Address, c.Server, c.Heard = found.Client, a.Address, heard
			c.Timeout = max(c.Timeout, found.Timeout)
		}
	}
	if c.Heard >= 0 && c.Timeout > 0 {
		c.Left = max(c.Timeout-c.Heard, 0)
	}
}

// heard is how long ago a server answered a connection last. A server reports that on a clock of its own. Which time it
// is there is known only if our own session is connected to it too, since that was answered just now. Otherwise heard
// is negative.
func (a Answer) heard(own Own, c fourletter.Connection) time.Duration {
	i := slices.IndexFunc(a.Connections, func(c fourletter.Connection) bool { return c.Session == own.Session })
	if i < 0 || c.LastResponse == 0 || a.Connections[i].LastResponse == 0 {
		return -1
	}
	return max(a.Connections[i].LastResponse-c.LastResponse, 0)
}

// end takes from the dumps when the session ends, and from that when it was heard unless that is known already. The
// leader has the end of our own session as well, which was heard just now: so it is known which time it is there,
// whatever its clock and its zone are. ended is set if a leader that knows our own session does not know this one.
//
// The ends of sessions lie on whole ticks, and followers report to their leader every half tick whom they have heard.
// So an end that is computed from these may be wrong by two ticks.
func (r *Report) end(c *Client, session int64) (ended bool) {
	for _, a := range r.Answers {
		c.Timeout = max(c.Timeout, a.Sessions.Timeouts[session])
	}
	for _, a := range r.Answers {
		ownEnd, leads := a.Sessions.Ends[r.Own.Session]
		if !leads || a.Dump != nil {
			continue
		}
		end, live := a.Sessions.Ends[session]
		if !live {
			ended = a.Sessions.Whole
			continue
		}
		now := ownEnd.Add(-r.Own.Timeout)
		if c.Left < 0 {
			c.Left, c.About = max(end.Sub(now), 0), true
		}
		if c.Heard < 0 && c.Timeout > 0 {
			c.Heard, c.About = max(c.Timeout-c.Left, 0), true
		}
		return false
	}
	return ended
}

// state judges by where the client is connected, and by when it was heard. some and all are the results of listed. A
// client that was heard lately and has no connection may have ended since, or be connected to a server that does not
// list its connections.
func (c Client) state(some, all bool) string {
	connected, known := c.Address != "", c.Heard >= 0 && c.Timeout > 0
	switch {
	case known && c.Heard > c.patience():
		return Silent
	case !connected && (all || some && known):
		return Away
	case known:
		return Alive
	case connected:
		return Connected
	default:
		return Unknown
	}
}

// patience is for how long a client that works may not be heard: each sends something at least every third of its
// session timeout. What is known by ticks gets half as much more.
func (c Client) patience() time.Duration {
	if c.About {
		return c.Timeout * 3 / 4
	}
	return c.Timeout / 2
}
