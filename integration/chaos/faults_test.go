//go:build linux

package chaos_test

import (
	"sync"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/integration/zookeeper"
)

// An episode is a window that was played.
type episode struct {
	Window  window `json:"window"`
	Begun   int64  `json:"begun"`   // CLOCK_MONOTONIC
	Healed  int64  `json:"healed"`  // when nothing was broken any more, but sessions
	Serving int64  `json:"serving"` // when each lock had been acquired since

	Helped bool `json:"helped"` // for that, servers or a process of another language were started again
}

// play does what a window says, all of it at a time, and then heals everything.
func (r *run) play(w window) episode {
	e, begun := episode{Window: w, Begun: godriver.Now()}, time.Now()
	var heals []func()
	var lasting sync.WaitGroup
	for _, f := range w {
		heal, during := r.begin(f)
		heals = append(heals, heal)
		lasting.Go(func() {
			if during != nil {
				during()
			}
			time.Sleep(f.For - time.Since(begun))
		})
		r.report.Faults[f.Kind]++
	}
	lasting.Wait()
	r.ensemble.Heal()
	for _, heal := range heals {
		heal()
	}
	e.Healed = godriver.Now()
	return e
}

// begin begins a fault. During is what goes on while it lasts.
func (r *run) begin(f fault) (heal, during func()) {
	if f.Slot != 0 {
		return r.beginAtClient(f)
	}
	heal = func() {}
	all := r.ensemble.Members()
	if f.Kind == rollServers {
		return heal, func() {
			for _, m := range all {
				m.Kill()
				m.Start()
				await.Within(graceForOthers, func() bool { return m.Role() != "" || m.Ended() })
			}
		}
	}
	m := all[f.Server-1]
	switch f.Kind {
	case killServer:
		m.Kill()
		heal = m.Start
	case freezeServer:
		m.Freeze()
		heal = m.Unfreeze
	case cutServers:
		r.ensemble.Between(m, all[f.Peer-1]).Cut()
	case deafenServer:
		r.ensemble.OneWay(m, all[f.Peer-1]).Cut()
	case isolateServer:
		r.ensemble.Peers(m).Cut()
	case fillDisk:
		r.disk.fill(r.t)
		heal = func() { // a server that could not write ends, or should
			r.disk.empty(r.t)
			m.Kill()
			m.Start()
		}
	}
	return heal, nil
}

func (r *run) beginAtClient(f fault) (heal, during func()) {
	s := r.slots[f.Slot-1]
	heal = func() {}
	switch f.Kind {
	case killProcess:
		r.kill(s)
		return func() { r.start(s) }, nil
	case freezeProcess:
		s.process.Freeze(r.t)
		return func() { s.process.Thaw(r.t) }, nil
	}
	for i, route := range s.routes {
		if f.Server != 0 && f.Server != i+1 {
			continue
		}
		switch f.Kind {
		case cutClient:
			route.Cut()
		case muteClient:
			route.ToServer.Cut()
		case deafenClient:
			route.FromServer.Cut()
		case stallClient:
			route.Freeze()
		}
	}
	if f.Kind == resetClient {
		during = func() { resetOften(s.routes, f.For) }
	}
	return heal, during
}

// resetOften breaks the connections again and again.
func resetOften(routes []*zookeeper.Route, long time.Duration) {
	for until := time.Now().Add(long); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		for _, route := range routes {
			route.Reset()
		}
	}
}
