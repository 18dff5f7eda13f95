//go:build linux

package drivers

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/journaltest"
)

// A Record collects the journals that clients of this library write in other processes, each to a file of its own.
type Record struct {
	dir string

	mu      sync.Mutex
	clients []string
	outside []journaltest.Event // deaths of processes, and ends of sessions by an administrator
}

// NewRecord makes an empty record, whose files go with the test.
func NewRecord(t testing.TB) *Record {
	t.Helper()
	return NewRecordIn(t.TempDir())
}

// NewRecordIn makes an empty record, whose files stay in a directory.
func NewRecordIn(dir string) *Record { return &Record{dir: dir} }

// File returns where a new client is to write its journal.
func (r *Record) File(client string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients = append(r.clients, client)
	return r.path(client)
}

func (r *Record) path(client string) string { return filepath.Join(r.dir, client) }

// Die notes that the process of a client was killed.
func (r *Record) Die(client string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outside = append(r.outside, journaltest.Event{At: time.Now(), Client: client, Died: true})
}

// Kill notes that a session is about to be ended.
func (r *Record) Kill(t testing.TB, session string) {
	t.Helper()
	id, err := strconv.ParseUint(session, 10, 64)
	if err != nil {
		t.Errorf("session %q: %v", session, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outside = append(r.outside, journaltest.Event{At: time.Now(), Killed: int64(id)})
}

// An executor is a server or an ensemble.
type executor interface {
	Transactions() ([]zktest.Transaction, error)
}

// Clients are how many journals there are.
func (r *Record) Clients() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.clients)
}

// Check checks the journals with what the server has executed, and returns how many steps they have.
func (r *Record) Check(t testing.TB, server executor) (steps int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	all := [][]journaltest.Event{r.outside}
	for _, client := range r.clients {
		file, err := os.Open(r.path(client))
		if err != nil {
			t.Errorf("the journal of %s: %v", client, err)
			continue
		}
		events, err := journaltest.ReadLines(file)
		_ = file.Close()
		if err != nil {
			t.Errorf("the journal of %s: %v", client, err)
		}
		for _, kind := range journaltest.Kinds(events) {
			steps += kind
		}
		all = append(all, events)
	}
	executed, err := server.Transactions()
	if err != nil || len(executed) == 0 {
		t.Errorf("got %d transactions from the server's logs (%v), want some", len(executed), err)
	}
	problems := journaltest.Check(journaltest.Merge(executed, all...), journaltest.Servers{Accuracy: time.Millisecond})
	for _, problem := range problems[:min(len(problems), 10)] {
		t.Errorf("the journal says: %v", problem)
	}
	return steps
}
