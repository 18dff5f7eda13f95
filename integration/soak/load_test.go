//go:build linux

package soak_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/counters"
	"github.com/gocurator/curator/recipes/locks"
)

// An actor takes one step after the other. A step returns or releases everything that it has made.
type actor struct {
	name string
	step func(ctx context.Context) error
	done atomic.Int64
	seen int64 // done, at the settled moment before

	failure atomic.Value // the text of the last one
}

func (s *soak) act(ctx context.Context, a *actor) {
	for ctx.Err() == nil {
		s.step(a)
		pause(ctx, s.pace.pause)
	}
}

func (s *soak) step(a *actor) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience) // await.Context would keep each to the end of the test
	defer cancel()
	if err := a.step(ctx); err != nil {
		if ctx.Err() != nil {
			await.Errorf(s.t, "a step of %q: %v", a.name, err)
		}
		a.failure.Store(err.Error())
		s.failures.add(a.name, err)
		return
	}
	a.done.Add(1)
}

// steps are how many each kind of actor has done, by name.
func (s *soak) steps() map[string]int64 {
	all := map[string]int64{}
	for _, a := range s.actors {
		all[a.name] += a.done.Load()
	}
	return all
}

// failures are counted by their kind. Ended sessions, broken connections and servers that restart cause them.
type failures struct {
	mu  sync.Mutex
	all map[string]int
}

// kinds are those of failures, the more exact first.
var kinds = []error{
	locks.ErrLeaseLost, counters.ErrUnknown, framework.ErrSessionLost, framework.ErrNotRenewed,
	framework.ErrConnectionLost, zk.ErrNoNode, context.DeadlineExceeded,
}

func (f *failures) add(actor string, err error) {
	var unconnected *framework.ConnectError
	kind := err.Error()
	kind = kind[:min(len(kind), 120)]
	if errors.As(err, &unconnected) {
		kind = "not connected"
	}
	for _, k := range kinds {
		if errors.Is(err, k) {
			kind = k.Error()
			break
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string]int{}
	}
	f.all[actor+": "+kind]++
}

func (f *failures) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(f.all)) {
		fmt.Fprintf(&text, "%6d  %s\n", f.all[kind], kind)
	}
	return text.String()
}

// disturb lets the load work until each actor has done a step, and resets links, ends sessions and restarts a server
// meanwhile, one after the other in turn.
func (s *soak) disturb() {
	members := s.ensemble.Members()
	next := func() int { s.disturbed++; return s.disturbed }
	reset := func() { members[next()%len(members)].Clients().Reset() }
	expire := func() { s.expire(s.clients[next()%len(s.clients)], members[0]) }
	restart := func() { members[next()%len(members)].Restart() }
	disturbances := []func(){reset, expire, restart, expire, reset}
	for _, happen := range disturbances {
		pause(s.t.Context(), s.pace.load/6)
		happen()
	}
	pause(s.t.Context(), s.pace.load/6)
	for _, a := range s.actors {
		if !await.Within(patience, func() bool { return a.done.Load() > a.seen }) {
			await.Errorf(s.t, "a step of %q that does not fail; its last failure: %q", a.name, a.failure.Load())
		}
	}
}

// expire ends a client's session at a server.
func (s *soak) expire(client *framework.Client, at *zookeeper.Member) {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	now, err := client.Session(ctx)
	if err == nil {
		err = zookeeper.EndSession(at.Server.Addr(), now.ID())
	}
	if err != nil {
		s.t.Logf("end a session: %v", err) // it has ended by itself
	}
}
