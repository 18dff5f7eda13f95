//go:build unix

package zookeeper

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
)

// EnsembleConfig says what an ensemble is like. The zero value is three servers that are quick about everything.
type EnsembleConfig struct {
	// Servers is how many of them vote; 3 if zero.
	Servers int
	// Observers is how many more only listen.
	Observers int
	// SyncLimit is how many ticks a follower may be without its leader, and a leader without its followers, before they
	// notice; 10 if zero, where ZooKeeper's sample configuration has 5.
	SyncLimit int
	// InitLimit is how many ticks a follower may take to join; 20 s worth if zero.
	InitLimit int
	// Direct has the servers reach each other without proxies, which measurements would feel. Links between them cannot
	// be cut then.
	Direct bool
	// Config is each server's. Its TickTime is 200 ms if zero.
	Config
}

func (c EnsembleConfig) withDefaults() EnsembleConfig {
	setDefault(&c.TickTime, 200*time.Millisecond)
	c.Config = c.Config.withDefaults()
	if c.Servers == 0 {
		c.Servers = 3
	}
	if c.SyncLimit == 0 {
		c.SyncLimit = 10
	}
	if c.InitLimit == 0 {
		c.InitLimit = max(5, int(20*time.Second/c.TickTime))
	}
	c.JavaOptions = slices.Concat([]string{"-Xmx64m", "-Xss512k"}, c.JavaOptions)
	return c
}

// An Ensemble is a number of servers that elect a leader, on loopback. Every link between two of them, and every link
// of a client, goes through a proxy of its own: see [Links]. Its methods are safe for concurrent use; what fails is
// reported to the test by Errorf.
type Ensemble struct {
	t       reporter
	dir     string
	java    string
	jars    string
	members []*Member
	wires   []*wire

	mu     sync.Mutex
	config EnsembleConfig
	routes []*proxy
}

// StartEnsemble starts an ensemble and returns when all its servers serve. It ends with the test, whose log then gets
// the servers' own if the test has failed. Without ZooKeeper it does what [Start] does.
func StartEnsemble(t testing.TB, config EnsembleConfig) *Ensemble {
	t.Helper()
	need(t)
	e, err := NewEnsemble(t.TempDir(), config, t)
	if err != nil {
		fail(t, err)
		t.FailNow()
	}
	t.Cleanup(e.Close)
	return e
}

// NewEnsemble starts an ensemble outside of a test, in an empty directory, and returns when all its servers serve. It
// must be closed.
func NewEnsemble(dir string, config EnsembleConfig, t reporter) (*Ensemble, error) {
	java, jars, err := find()
	if err != nil {
		return nil, err
	}
	var failures error
	for attempt := range 3 { // another process may take a port between our look and a server's start
		e := &Ensemble{t: t, dir: filepath.Join(dir, strconv.Itoa(attempt)), java: java, jars: jars, config: config.withDefaults()}
		err := e.start()
		if err == nil {
			return e, nil
		}
		failures = errors.Join(failures, err)
		e.end()
	}
	return nil, failures
}

func (e *Ensemble) start() error {
	for id := 1; id <= e.config.Servers+e.config.Observers; id++ {
		if err := e.addMember(id); err != nil {
			return err
		}
	}
	for _, from := range e.members {
		for _, to := range e.members {
			if from == to {
				continue
			}
			w, err := newWire(from, to)
			if err != nil {
				return err
			}
			e.wires = append(e.wires, w)
		}
	}
	for _, w := range e.wires {
		back := e.wire(w.to, w.from)
		w.election.greeting = readdress(loopback(w.from.election), back.election.addr())
	}
	for _, w := range e.wires {
		w.quorum.start()
		w.election.start()
	}
	if err := e.configure(); err != nil {
		return err
	}
	for _, m := range e.members {
		if err := m.spawn(); err != nil {
			return err
		}
	}
	for _, m := range e.members {
		if err := m.awaitServing(m.process); err != nil {
			return fmt.Errorf("server %d: %w; its log ends:\n%s", m.id, err, logTail(m.logFile))
		}
	}
	return nil
}

// Close ends the ensemble.
func (e *Ensemble) Close() {
	e.end()
	for _, m := range e.members {
		dump(e.t, "server "+strconv.Itoa(m.id), m.logFile)
	}
}

func (e *Ensemble) end() {
	for _, m := range e.members {
		m.mu.Lock()
		if m.process != nil {
			_ = m.process.cmd.Process.Kill()
		}
		m.mu.Unlock()
	}
	for _, m := range e.members {
		m.mu.Lock()
		if m.process != nil {
			<-m.process.exited
		}
		m.mu.Unlock()
		m.clientele.close()
	}
	for _, w := range e.wires {
		w.quorum.close()
		w.election.close()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.routes {
		p.close()
	}
}

// Members are the servers, those that vote first; the first has number 1.
func (e *Ensemble) Members() []*Member { return slices.Clone(e.members) }

// ConnectString names the servers' addresses for a client.
func (e *Ensemble) ConnectString() string {
	addrs := make([]string, len(e.members))
	for i, m := range e.members {
		addrs[i] = m.Addr()
	}
	return strings.Join(addrs, ",")
}

// Leader waits until one server leads, and returns it; nil after two minutes.
func (e *Ensemble) Leader() *Member {
	var all []*Member
	if !await.Within(startTimeout, func() bool { all = e.inRole("leader"); return len(all) > 0 }) {
		fail(e.t, &lateError{"there is no leader"})
		return nil
	}
	return all[0]
}

// Settled waits until one server leads and all others that vote follow, and returns them; nil after two minutes. That
// every server serves does not imply it: one that a busy machine has held up for a syncLimit looks for a leader again.
func (e *Ensemble) Settled() (leader *Member, followers []*Member) {
	var leaders []*Member
	if !await.Within(startTimeout, func() bool {
		leaders, followers = e.inRole("leader"), e.inRole("follower")
		return len(leaders) == 1 && len(followers) == e.config.Servers-1
	}) {
		fail(e.t, &lateError{fmt.Sprintf("not every server leads or follows: got %d leaders and %d followers, want 1 and %d",
			len(leaders), len(followers), e.config.Servers-1)})
		return nil, nil
	}
	return leaders[0], followers
}

// inRole asks all servers at once, since one that is frozen does not answer.
func (e *Ensemble) inRole(role string) []*Member {
	roles := make([]string, len(e.members))
	var asking sync.WaitGroup
	for i, m := range e.members {
		asking.Go(func() { roles[i] = m.Role() })
	}
	asking.Wait()
	var all []*Member
	for i, m := range e.members {
		if roles[i] == role {
			all = append(all, m)
		}
	}
	return all
}

// AwaitServing waits until every server of the ensemble serves, and reports whether they do.
func (e *Ensemble) AwaitServing() bool {
	for _, m := range e.members {
		if !m.AwaitServing() {
			return false
		}
	}
	return true
}
