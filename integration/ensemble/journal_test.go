//go:build linux

package main_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/journaltest"
)

// A record is the journal of the clients of one test, which is checked at its end, when the clients are closed.
type record struct {
	events   journaltest.Journal
	clients  atomic.Int64
	contests atomic.Int64
}

// records has the record of each test that has an ensemble: test's name → *record.
var records sync.Map

// keepRecord begins the record of a test, and checks it at the end of the test.
func keepRecord(t *testing.T, e *zookeeper.Ensemble) {
	t.Helper()
	r := &record{}
	records.Store(t.Name(), r)
	t.Cleanup(func() {
		records.Delete(t.Name())
		r.check(t, e)
	})
}

// recordOf returns nil for a test without an ensemble.
func recordOf(t *testing.T) *record {
	r, _ := records.Load(t.Name())
	one, _ := r.(*record)
	return one
}

// trace returns options for a new client, and what attaches it.
func (r *record) trace() (opts []framework.Option, attach func(*framework.Client)) {
	if r == nil {
		return nil, func(*framework.Client) {}
	}
	name := fmt.Sprintf("client %d", r.clients.Add(1))
	return []framework.Option{framework.WithTrace(framework.Trace{OrphanFound: r.events.OrphanFound(name)})},
		func(client *framework.Client) { r.events.Attach(client, name) }
}

// contest counts a contest.
func (r *record) contest() {
	if r != nil {
		r.contests.Add(1)
	}
}

func (r *record) check(t *testing.T, e *zookeeper.Ensemble) {
	t.Helper()
	executed, err := e.Transactions()
	if err != nil {
		t.Error(err)
	}
	events := r.events.Events()
	if contests := r.contests.Load(); contests > 0 && (len(events) == 0 || len(executed) == 0) {
		t.Errorf("got %d steps and %d transactions of %d contests in the journal, want some of both", len(events), len(executed), contests)
	}
	problems := journaltest.Check(journaltest.Merge(executed, events), journaltest.Servers{Accuracy: time.Millisecond})
	for _, problem := range problems[:min(len(problems), 10)] {
		t.Errorf("the journal says: %v", problem)
	}
}
