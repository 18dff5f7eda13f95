package lockstest

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/journaltest"
)

// InMemory is the backend of every day: package zktest, an ensemble of two, in a bubble. It has every capability.
type InMemory struct {
	// Tick is the servers' granularity of time; 0 is a short one. The longest that goes with MemorySessionTimeout is
	// half of that.
	Tick time.Duration
}

var _ Backend = InMemory{}

// MissingCapabilities is of the Backend.
func (InMemory) MissingCapabilities() map[Capability]string { return nil }

// Run runs a law in a bubble. A goroutine that is left over fails it.
func (b InMemory) Run(t *testing.T, law func(t *testing.T, server Server)) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		opts := []zktest.Option{zktest.WithSyncLimit(memorySyncLimit)}
		if b.Tick > 0 {
			opts = append(opts, zktest.WithTickTime(b.Tick))
		}
		ensemble := zktest.NewEnsemble(2, opts...)
		t.Cleanup(func() { ensemble.Close() })
		law(t, &memory{t: t, ensemble: ensemble})
	})
}

// MemorySessionTimeout is the session timeout of clients of InMemory.
const MemorySessionTimeout = 10 * time.Second

const (
	memorySyncLimit = time.Minute // much longer than the session: the follower goes on answering long after its end
)

// memory is a Server, a CounterSetter and an Ensemble.
type memory struct {
	t        *testing.T
	ensemble *zktest.Ensemble
}

var (
	_ CounterSetter = (*memory)(nil)
	_ Ensemble      = (*memory)(nil)
)

func (m *memory) leader() *zktest.Server { return m.ensemble.Server(0) }

func (m *memory) NewLink() *Link {
	return NewLink(m.ensemble.Addrs()[0], m.ensemble.NewLink().DialContext)
}

func (m *memory) NewFollowerLink() *Link {
	return NewLink(m.ensemble.Addrs()[1], m.ensemble.NewLink().DialContext)
}

func (m *memory) SessionTimeout() time.Duration { return MemorySessionTimeout }
func (m *memory) SyncLimit() time.Duration      { return memorySyncLimit }
func (m *memory) Isolate()                      { m.ensemble.Isolate(1) }
func (m *memory) Rejoin()                       { m.ensemble.Rejoin(1) }
func (m *memory) SetLag(lag time.Duration)      { m.ensemble.SetLag(1, lag) }
func (m *memory) Restart()                      { m.leader().Restart() }

func (m *memory) Children(path string) []string { return m.leader().Children(path) }

func (m *memory) Stat(path string) *zk.Stat {
	s, ok := m.leader().Stat(path)
	if !ok {
		return nil
	}
	return &zk.Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Ctime: s.Ctime, Mtime: s.Mtime, Version: s.Version, Cversion: s.Cversion,
		Aversion: s.Aversion, EphemeralOwner: s.EphemeralOwner, DataLength: s.DataLength, NumChildren: s.NumChildren,
		Pzxid: s.Pzxid,
	}
}

func (m *memory) Data(path string) []byte {
	data, _ := m.leader().Data(path)
	return data
}

func (m *memory) Create(path string, data []byte) {
	m.t.Helper()
	if err := m.leader().Create(path, data); err != nil {
		m.t.Errorf("create %s: %v", path, err)
	}
}

func (m *memory) Delete(path string) {
	m.t.Helper()
	if err := m.leader().Delete(path); err != nil && m.Stat(path) != nil {
		m.t.Errorf("delete %s: %v", path, err)
	}
}

func (m *memory) Watches(path string) int {
	return m.leader().Watches(path) + m.ensemble.Server(1).Watches(path)
}

func (m *memory) AllWatches() int {
	return m.leader().WatchCount() + m.ensemble.Server(1).WatchCount()
}

func (m *memory) ExpireSession(_ *Link, session int64) { m.leader().ExpireSession(session) }

func (m *memory) Record(journal *journaltest.Journal) (read func() ([]journaltest.Event, journaltest.Servers)) {
	m.leader().ObserveTransactions(journal.Transaction)
	return func() ([]journaltest.Event, journaltest.Servers) { return journal.Events(), journaltest.Servers{} }
}

func (m *memory) SetCounter(path string, n int32) { m.leader().SetCreateCounter(path, n) }
