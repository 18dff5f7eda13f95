package live

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/cgroup"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

func standardPolicy(c *Config) { c.Policy = session.StandardErrorPolicy }

// Either of reader and clock may run first, again and again.
func TestAProcessThatDidNotRunIsNamedAlsoIfItHearsOfItsConnectionFirst(t *testing.T) {
	for name, ail := range map[string]func(p *process){
		"a reset": func(p *process) { p.link.Reset() },
		"closing": func(p *process) {
			p.stopped()
			p.end(session.ErrClosed, cause.ClientClosed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range 20 {
				zktest.Bubble(t, func(t *testing.T) {
					p := newProcess(t, seed, nil, standardPolicy)
					p.stop(2 * p.timeout)
					ail(p)
					lost := <-p.ended
					if got := session.Explain(lost); got.Kind != session.LossProcessStopped || !errors.Is(lost, session.ErrNotRenewed) {
						t.Errorf("seed %d: got %v: %v: %s, want a stopped process", seed, lost, got.Kind, got)
					}
				})
			}
		})
	}
}

func TestAnExplainedLossRetainsNeitherItsSessionNorItsEvents(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		p := newProcess(t, 0, nil)
		p.link.Cut()
		var lost *lostError
		if !errors.As(<-p.ended, &lost) {
			t.Fatal("got no lostError")
		}
		synctest.Wait()
		if lost.loss.of != nil {
			t.Error("the loss retains its session")
		}
		events := 0
		if r := lost.loss.record.Load(); r != nil {
			events = len(r.Events)
		}
		session.Explain(lost)
		if lost.loss.record.Load() != nil || events == 0 {
			t.Errorf("got %d events before the explanation, and some after it; want some, then none", events)
		}
	})
}

// A nosy is the error of a program's dialer.
type nosy struct {
	session.Session
	stuck *atomic.Bool
}

func (n nosy) Error() string { return "nosy" }

func (n nosy) Is(error) bool {
	asked := make(chan struct{})
	go func() {
		_ = n.Err()
		close(asked)
	}()
	select {
	case <-asked:
	case <-time.After(10 * time.Second):
		n.stuck.Store(true)
	}
	return false
}

func TestADialersErrorMayAskTheSession(t *testing.T) {
	s := newWhole(unconnectedConfig(), (&ownerLog{}).hear())
	var stuck atomic.Bool
	s.onDetached(nosy{s.Session, &stuck})
	if stuck.Load() {
		t.Error("the end of a connection holds the session's mutex while it asks for the reason")
	}
	stuck.Store(false)
	s.onFailed("zk:1", nosy{s.Session, &stuck})
	if stuck.Load() {
		t.Error("a failed attempt holds the session's mutex while it asks for the reason")
	}
}

// An asker asks the session when it hears that it may be behind.
type asker struct {
	goners
	nosy
}

func (a *asker) Behind() { a.Is(nil) }

func TestObserversAndTheOwnerMayAskTheSession(t *testing.T) {
	cfg, events := unconnectedConfig(), (&ownerLog{}).hear()
	cfg.Meter = cgroup.New(fstest.MapFS{"cpu.stat": {Data: []byte("throttled_usec 1\n")}})
	chores := 0
	var asks *asker
	events.Chore = func(do func()) {
		chores++
		asks.Is(nil)
		do()
	}
	s := newWhole(cfg, events)
	asks = &asker{nosy: nosy{s.Session, new(atomic.Bool)}}
	check := func(when string, want int) {
		t.Helper()
		if asks.stuck.Swap(false) || chores != want {
			t.Errorf("%s: got %d chores, want %d; or the session's mutex was held", when, chores, want)
		}
	}
	now := s.clock.Now()
	s.onAttached(attachedAt(now))
	s.ObserveChildren("/dir", asks)
	s.observers.behind()
	check("a session that may be behind", 0)
	s.StartRenewal()
	s.tick(now.Add(oneTimeout / 4))
	check("a sample", 1)
	s.NodeLost().OnSettled(func() {})
	s.onAnswered(now.Add(oneTimeout/4), now.Add(oneTimeout/4), transport.ReachMajority)
	check("an answer that settles what became of a node", 2)
}

// The client's chores may wait while the process does not run.
func TestASampleHasTheTimeAtWhichItIsTaken(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cpu.stat"), []byte("throttled_usec 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		meter := cgroup.New(os.DirFS(dir))
		cfg, events := unconnectedConfig(), (&ownerLog{}).hear()
		cfg.Meter = meter
		var chores []func()
		events.Chore = func(do func()) { chores = append(chores, do) }
		s := newWhole(cfg, events)
		s.Runner.validity.meter(s.clock.Now())
		time.Sleep(time.Minute)
		for _, do := range chores {
			do()
		}
		if len(chores) != 1 || meter.Awaits(time.Minute) {
			t.Errorf("got %d chores, and no sample of a minute later; want one", len(chores))
		}
		now := s.clock.Now()
		if got := testing.AllocsPerRun(10, func() {
			now = now.Add(5 * time.Second)
			chores = chores[:0]
			s.Runner.validity.meter(now)
		}); got != 0 || len(chores) != 1 {
			t.Errorf("got %v allocations and %d chores, want none for one", got, len(chores))
		}
	})
}
