package leader_test

import (
	"time"

	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// storm lets faults happen until it is stopped.
func (a actor) storm(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(a.some(5 * time.Second)):
		}
		p, server, kind := a.peers[a.pick(len(a.peers))], a.pick(a.servers), a.pick(8)
		a.note("fault %d, server %d", kind, server)
		switch kind {
		case 0:
			p.link.Cut()
		case 1:
			p.link.Mute()
		case 2:
			p.link.Heal()
		case 3:
			p.link.Reset()
		case 4:
			p.link.DropReply([]lockstest.Op{lockstest.Create, lockstest.GetChildren, lockstest.Delete, lockstest.GetData}[a.pick(4)])
		case 5:
			p.link.DelayReply(lockstest.Create, a.some(12*time.Second))
		case 6:
			a.replace(server)
		case 7:
			a.slow(server)
		}
		if a.pick(8) == 0 {
			a.heal()
		}
	}
}

// replace has a server start anew, or another one lead.
func (a actor) replace(server int) {
	if a.servers == 1 {
		a.ensemble.Server(server).Restart()
		return
	}
	a.ensemble.Elect(server)
}

// slow has a server do nothing for a moment, or hear of everything later from now on.
func (a actor) slow(server int) {
	if a.servers == 1 {
		a.ensemble.Server(server).Freeze()
		time.Sleep(a.some(4 * time.Second))
		a.ensemble.Server(server).Thaw()
		return
	}
	a.ensemble.SetLag(server, a.some(400*time.Millisecond))
}

func (s *simulation) heal() {
	for _, p := range s.peers {
		p.link.Heal()
	}
	for i := range s.servers {
		s.ensemble.SetLag(i, 0)
	}
}

// checkResidue checks G5 and G4 when all is calm again.
func (s *simulation) checkResidue() {
	var nodes []string
	var watches int
	for range 100 {
		nodes, watches = s.ensemble.Leader().Children(path), 0
		for i := range s.servers {
			watches += s.ensemble.Server(i).WatchCount()
		}
		if len(nodes) == 0 && watches == 0 {
			return
		}
		time.Sleep(sessionTimeout / 20)
	}
	s.t.Errorf("seed %d: there are nodes %v and %d watches left", s.seed, nodes, watches)
}
