package locks_test

import (
	"time"

	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// storm lets faults happen until it is stopped.
func (s actor) storm(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(s.pick(5000)) * time.Millisecond):
		}
		i := s.pick(len(s.peers))
		p := s.peers[i]
		server := s.pick(s.servers)
		kind := s.pick(10)
		s.note("fault %d on %c, server %d", kind, 'A'+i, server)
		switch kind {
		case 0:
			p.link.Cut()
		case 1:
			p.link.Mute()
		case 2, 3:
			p.link.Heal()
		case 4:
			p.link.Reset()
		case 5:
			p.link.DropReply([]lockstest.Op{lockstest.Create, lockstest.GetChildren, lockstest.Delete, lockstest.GetData}[s.pick(4)])
		case 6:
			p.link.DelayReply(lockstest.Create, time.Duration(s.pick(12000))*time.Millisecond)
		case 7:
			s.replace(server)
		case 8:
			s.slow(server)
		case 9:
			p.cable.SetLatency(time.Duration(s.pick(500)) * time.Millisecond)
		}
		if s.pick(3) == 0 {
			s.heal()
		}
	}
}

// replace has a server start anew, or another one lead.
func (s actor) replace(server int) {
	if s.servers == 1 {
		s.ensemble.Server(server).Restart()
		return
	}
	s.ensemble.Elect(server)
}

// slow has a server do nothing for a moment, or hear of everything later from now on.
func (s actor) slow(server int) {
	if s.servers == 1 {
		s.ensemble.Server(server).Freeze()
		s.pause(4 * time.Second)
		s.ensemble.Server(server).Thaw()
		return
	}
	s.ensemble.SetLag(server, time.Duration(s.pick(400))*time.Millisecond)
}

func (s *simulation) heal() {
	for _, p := range s.peers {
		p.link.Heal()
	}
	for i := range s.servers {
		s.ensemble.SetLag(i, 0)
	}
}
