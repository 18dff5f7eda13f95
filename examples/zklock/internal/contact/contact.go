// Package contact finds out whether the clients of sessions live: from where they are connected, when servers heard
// them last, and when their sessions end by themselves. It asks servers by four-letter commands, and only reads.
package contact

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
)

// States of clients.
const (
	Alive     = "alive"     // heard as lately as a client that works is
	Connected = "connected" // connected; when it was heard is not known
	Silent    = "silent"    // not heard for as long as a client that works never is
	Away      = "away"      // connected to none of the servers that list connections
	Ended     = "ended"     // its session is over
	Unknown   = "unknown"
)

// A Client is what servers say about the client of a session.
type Client struct {
	State   string
	Address string        // the client's, as its server sees it; "" without a connection
	Server  string        // the server to which the client is connected
	Timeout time.Duration // the session timeout; 0 if it is not known
	Heard   time.Duration // since it was heard; negative if that is not known
	Left    time.Duration // until its session ends if it is not heard; negative if that is not known
	About   bool          // Heard and Left may be wrong by two ticks
}

// MarshalJSON leaves out what is not known.
func (c Client) MarshalJSON() ([]byte, error) {
	milliseconds := func(d time.Duration) *int64 {
		if d < 0 {
			return nil
		}
		ms := d.Milliseconds()
		return &ms
	}
	out := struct {
		State   string `json:"state"`
		Address string `json:"address,omitempty"`
		Server  string `json:"server,omitempty"`
		Timeout int64  `json:"timeout_ms,omitempty"`
		Heard   *int64 `json:"heard_ms_ago,omitempty"`
		Left    *int64 `json:"ends_in_ms,omitempty"`
		About   bool   `json:"about,omitempty"`
	}{c.State, c.Address, c.Server, c.Timeout.Milliseconds(), milliseconds(c.Heard), milliseconds(c.Left), c.About}
	return json.Marshal(out)
}

// Own is the session of the client that asks, which the servers have heard just now: it is the clock by which their
// answers are read.
type Own struct {
	Session int64
	Timeout time.Duration
}

// A Report is what all servers have answered.
type Report struct {
	Own     Own
	Answers []Answer // in the order of the servers
	Failed  error    // why no server was asked: they could not be found
}

// An Answer is what one server has answered.
type Answer struct {
	Address     string
	Connections []fourletter.Connection // if Cons is nil
	Sessions    fourletter.Sessions     // if Dump is nil
	Cons, Dump  error
}

// MarshalJSON says what the server has not answered.
func (a Answer) MarshalJSON() ([]byte, error) {
	text := func(err error) string {
		if err == nil || fourletter.TroubleOf(err) == fourletter.NotAsked {
			return ""
		}
		return err.Error()
	}
	return json.Marshal(struct {
		Address string `json:"address"`
		Cons    string `json:"cons_error,omitempty"`
		Dump    string `json:"dump_error,omitempty"`
	}{a.Address, text(a.Cons), text(a.Dump)})
}

// Ask asks all servers in parallel, and blocks for at most limit; not even that if it knows of every session of wanted
// before. When it returns, nothing of it is under way any more.
func Ask(ctx context.Context, servers []fourletter.Server, own Own, wanted []int64, limit time.Duration) *Report {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	r := &Report{Own: own, Answers: make([]Answer, len(servers))}
	for i, s := range servers {
		r.Answers[i] = Answer{Address: s.Address, Cons: fourletter.ErrNotAsked, Dump: fourletter.ErrNotAsked}
	}
	notes := make(chan func(), 2*len(servers)) // has room for all, so that none waits
	go func() {
		defer close(notes)
		fourletter.Each(ctx, 2*len(servers), limit, func(ctx context.Context, i int) {
			notes <- ask(ctx, servers[i/2], &r.Answers[i/2], i%2 == 0)
		})
	}()
	for note := range notes {
		note()
		if r.complete(wanted) {
			enough() // what is under way ends without an answer, and says so
		}
	}
	return r
}

// ask asks one server for its connections, or for its sessions. It returns what notes the answer.
func ask(ctx context.Context, s fourletter.Server, a *Answer, cons bool) (note func()) {
	if cons {
		text, err := s.Ask(ctx, "cons")
		connections := fourletter.Connections(text)
		return func() { a.Connections, a.Cons = connections, err }
	}
	text, err := s.Ask(ctx, "dump")
	sessions := fourletter.ParseSessions(text)
	return func() { a.Sessions, a.Dump = sessions, err }
}

// complete reports whether further answers would say nothing new about the sessions: all of them are connected, and it
// is known when they were heard and when they end.
func (r *Report) complete(wanted []int64) bool {
	for _, session := range wanted {
		if c := r.Client(session); c.Address == "" || c.Heard < 0 || c.Left < 0 {
			return false
		}
	}
	return true
}
