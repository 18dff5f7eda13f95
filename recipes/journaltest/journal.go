// Package journaltest writes down what happens inside the locks of one or more clients, and what their servers execute,
// in one order, and checks it: see [Check]. Tests of this module use it on every run; it promises no compatibility.
package journaltest

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// A Journal is safe for concurrent use. The zero value is ready for use.
type Journal struct {
	mu     sync.Mutex
	events []Event
	lines  *json.Encoder // set by Lines; then events is empty
	err    error         // the first error of lines
}

// An Event is one entry: a step of a client, a transaction of the servers, an orphan's node that a client has found, a
// session that is about to be ended by an administrator, or the end of a client's process, as by kill -9.
type Event struct {
	At          time.Time
	Client      string              `json:",omitempty"`
	Step        *Step               `json:",omitempty"`
	Transaction *zktest.Transaction `json:",omitempty"`
	Orphan      string              `json:",omitempty"` // absolute path
	Killed      int64               `json:",omitempty"` // session
	Died        bool                `json:",omitempty"` // Client's process
}

// A Step is what the engine reports.
type Step = steps.Step

// Attach has a client write its steps under a name. It must come before the client's first recipe.
func (j *Journal) Attach(client steps.Source, name string) { steps.Attach(client, j.Of(name)) }

// Of returns an observer that writes the steps of a client under a name.
func (j *Journal) Of(client string) steps.Observer { return writer{j, client} }

type writer struct {
	journal *Journal
	client  string
}

func (w writer) Step(s steps.Step) {
	if s.Kind == steps.Ended {
		s.Until = time.Now()
		if s.Valid != nil && s.Valid().Before(s.Until) {
			s.Until = s.Valid()
		}
		s.Valid = nil
	}
	w.journal.add(Event{Client: w.client, Step: &s})
}

// Transaction notes what the servers have executed. For [zktest.Server.ObserveTransactions].
func (j *Journal) Transaction(t zktest.Transaction) { j.add(Event{Transaction: &t}) }

// OrphanFound returns a function that notes an orphan of a client. For [framework.Trace].
func (j *Journal) OrphanFound(name string) func(path string) {
	return func(path string) { j.add(Event{Client: name, Orphan: path}) }
}

// Kill notes that an administrator is about to end a session: its leases end no earlier.
func (j *Journal) Kill(session int64) { j.add(Event{Killed: session}) }

func (j *Journal) add(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.At = time.Now()
	if j.lines != nil {
		if err := j.lines.Encode(e); j.err == nil {
			j.err = err
		}
		return
	}
	j.events = append(j.events, e)
}

// Events returns what is in the journal, in its order.
func (j *Journal) Events() []Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.events)
}

// Merge puts the events of several processes and the transactions of their servers in one order, by the time of day,
// which must be that of one machine. Servers log a transaction's time before they execute it, rounded down: so it comes
// before all that clients did because of it. Transactions keep the order of their zxids if the time is set back.
func Merge(transactions []zktest.Transaction, clients ...[]Event) []Event {
	var all []Event
	var latest time.Time
	for _, t := range transactions {
		if t.At.After(latest) {
			latest = t.At
		}
		all = append(all, Event{At: latest, Transaction: &t})
	}
	for _, events := range clients {
		all = append(all, events...)
	}
	slices.SortStableFunc(all, func(a, b Event) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	return all
}

// Kinds counts the steps by their kinds.
func Kinds(events []Event) map[steps.Kind]int {
	kinds := map[steps.Kind]int{}
	for _, e := range events {
		if e.Step != nil {
			kinds[e.Step.Kind]++
		}
	}
	return kinds
}
