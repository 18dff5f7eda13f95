package lockstest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/journaltest"
)

// A Record is the journal of one law: the steps of its clients, and the server's transactions under the law's path.
type Record struct {
	journal journaltest.Journal
	server  Server
	path    string
	silent  bool
	read    func() ([]journaltest.Event, journaltest.Servers)
}

// NewRecord begins a journal. Nodes of other paths are not in it: on a real server they are of other laws.
func NewRecord(server Server, path string) *Record {
	r := &Record{server: server, path: path}
	r.read = server.Record(&r.journal)
	return r
}

// Trace is an option that enters the orphans of a client. The client's own trace, if it has one, takes its place.
func (r *Record) Trace(client string) framework.Option {
	return framework.WithTrace(framework.Trace{OrphanFound: r.journal.OrphanFound(client)})
}

// Attach enters the steps of a client.
func (r *Record) Attach(client *framework.Client, name string) { r.journal.Attach(client, name) }

// ExpireSession is the server's, entered before it begins.
func (r *Record) ExpireSession(link *Link, session int64) {
	link.disturb()
	r.journal.Kill(session)
	r.server.ExpireSession(link, session)
}

// Silent says that nothing under the law's path reaches the server.
func (r *Record) Silent() { r.silent = true }

// Check fails the test for what must not have happened, and for a journal without steps or transactions, which would
// show nothing. In a bubble it also waits for what clients keep for a while, and fails the test for what is left.
// The clients must be closed. It does nothing for a test that was skipped.
func (r *Record) Check(t testing.TB, inBubble bool) {
	t.Helper()
	if t.Skipped() {
		return
	}
	const kept = 2 * time.Minute // longer than views and refusals
	if inBubble {
		time.Sleep(kept)
	}
	all, servers := r.read()
	events, transactions := r.own(all)
	switch steps := len(events) - transactions; {
	case r.silent && transactions > 0:
		t.Errorf("got %d transactions under %s, want none", transactions, r.path)
	case !r.silent && (steps == 0 || transactions == 0):
		t.Errorf("got a journal of %d steps and %d transactions under %s, want some of both", steps, transactions, r.path)
	}
	problems := journaltest.Check(events, servers)
	for _, problem := range problems[:min(len(problems), 10)] {
		violated(t)
		t.Errorf("the journal says: %v", problem)
	}
	if !inBubble {
		return
	}
	for _, left := range journaltest.Left(events) {
		t.Errorf("the journal says: there is left: %s", left)
	}
}

// own leaves out what is not under the path, and counts the transactions that stay.
func (r *Record) own(all []journaltest.Event) (events []journaltest.Event, transactions int) {
	for _, e := range all {
		if e.Transaction != nil {
			t := *e.Transaction
			t.Changes = slices.DeleteFunc(slices.Clone(t.Changes), func(c zktest.Change) bool { return !strings.HasPrefix(c.Path, r.path+"/") })
			if len(t.Changes) == 0 {
				continue
			}
			e.Transaction = &t
			transactions++
		}
		events = append(events, e)
	}
	return events, transactions
}
