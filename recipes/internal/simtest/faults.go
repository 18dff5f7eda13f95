package simtest

import (
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// storm lets faults happen until it is stopped.
func (e *Env) storm(dice Dice, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(dice.Some(5 * time.Second)):
		}
		i := dice.Pick(len(e.Peers))
		p := e.Peers[i]
		server := dice.Pick(e.Ensemble.Size())
		kind := dice.Pick(13)
		e.Note("fault %d on %c, server %d", kind, 'A'+i, server)
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
			p.link.DropReply([]lockstest.Op{lockstest.Create, lockstest.GetChildren, lockstest.Delete, lockstest.GetData}[dice.Pick(4)])
		case 6:
			p.link.DelayReply(lockstest.Create, dice.Some(12*time.Second))
		case 7:
			e.replace(server)
		case 8:
			e.slow(server, dice)
		case 9:
			p.cable.SetLatency(dice.Some(500 * time.Millisecond))
		default:
			e.lose(kind, e.Ensemble.Server(server), dice)
		}
		if dice.Pick(3) == 0 {
			e.heal()
		}
	}
}

// replace has a server start anew, or another one lead.
func (e *Env) replace(server int) {
	if e.Ensemble.Size() == 1 {
		e.Ensemble.Server(server).Restart()
		return
	}
	e.Ensemble.Elect(server)
}

// slow has a server do nothing for a moment, or hear of everything later from now on.
func (e *Env) slow(server int, dice Dice) {
	if e.Ensemble.Size() == 1 {
		e.Ensemble.Server(server).Freeze()
		time.Sleep(dice.Some(4 * time.Second))
		e.Ensemble.Server(server).Thaw()
		return
	}
	e.Ensemble.SetLag(server, dice.Some(400*time.Millisecond))
}

// lose has a server lose time, an answer or an event.
func (e *Env) lose(kind int, server *zktest.Server, dice Dice) {
	switch kind {
	case 10:
		e.stall(server, dice)
	case 11:
		server.SwallowReply(zktest.Match{Nth: 1 + dice.Pick(10)})
	case 12:
		server.DropEvent(zktest.Match{Nth: 1 + dice.Pick(3)})
	}
}

// stall has a thread of a server execute the next create late. The connections that it may have come on break at once.
func (e *Env) stall(server *zktest.Server, dice Dice) {
	goOn := server.Stall(zktest.Match{Op: zktest.OpCreate2, Path: e.path + "/*"})
	time.AfterFunc(dice.Some(SessionTimeout), goOn)
	time.AfterFunc(dice.Some(time.Second), func() {
		for _, p := range e.Peers {
			p.link.Reset()
		}
	})
}

func (e *Env) heal() {
	for _, p := range e.Peers {
		p.link.Heal()
	}
	for i := range e.Ensemble.Size() {
		e.Ensemble.SetLag(i, 0)
	}
}
