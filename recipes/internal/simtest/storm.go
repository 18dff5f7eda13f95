package simtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// storm lets faults happen until it is stopped: at random, unless there are given ones.
func (e *Env) storm(given []event, stop <-chan struct{}) {
	if given != nil {
		e.stormAgain(given, stop)
		return
	}
	dice := e.Dice(1)
	for {
		select {
		case <-stop:
			return
		case <-time.After(dice.Some(5 * time.Second)):
		}
		if !e.awaitStorm(stop) {
			return
		}
		e.strike(e.pickFault(dice))
		if dice.Pick(3) == 0 {
			e.strike(Fault{Kind: healAll})
		}
	}
}

// givenFaults returns those that -faults names, or nil.
func (e *Env) givenFaults() ([]event, error) {
	if *faultsFile == "" {
		return nil, nil
	}
	given, err := readFaults(*faultsFile)
	for _, next := range given {
		if err = next.Fault.check(len(e.Peers), e.Ensemble.Size()); err != nil {
			return nil, fmt.Errorf("faults of %s: %w", *faultsFile, err)
		}
	}
	return given, err
}

// stormAgain lets the given faults happen at their times. In the end it heals everything, as faults at random do by and
// by: without connections no actor would ever be done.
func (e *Env) stormAgain(given []event, stop <-chan struct{}) {
	end := event{Fault: &Fault{Kind: healAll}}
	for _, next := range given {
		end.At = max(end.At, next.At+span(3*SessionTimeout))
	}
	for _, next := range append(slices.Clone(given), end) {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(next.At) - time.Since(e.start)):
			e.strike(*next.Fault)
		}
	}
}

// strike notes a fault and lets it happen.
func (e *Env) strike(f Fault) {
	e.add(event{Lane: f.lane(), Text: f.String(), Fault: &f})
	if slices.Contains(ofPeers, f.Kind) {
		e.strikePeer(f, e.peers()[f.Peer])
	} else {
		e.strikeServer(f, e.Ensemble.Server(f.Server))
	}
}

func (e *Env) strikePeer(f Fault, p *Peer) {
	switch f.Kind {
	case cut:
		p.link.Cut()
	case mute:
		p.link.Mute()
	case heal:
		p.link.Heal()
	case reset:
		p.link.Reset()
	case dropReply:
		p.link.DropReply(replyOps[slices.Index(replies, f.Op)])
	case delayReply:
		p.link.DelayReply(replyOps[slices.Index(replies, f.Op)], time.Duration(f.For))
	case latency:
		p.cable.SetLatency(time.Duration(f.For))
	case dropShake:
		e.limitAll(SessionTimeout)
		p.dropHandshake(time.Duration(f.For))
		time.AfterFunc(time.Duration(f.For), func() { e.limitAll(3 * SessionTimeout) })
	}
}

func (e *Env) strikeServer(f Fault, server *zktest.Server) {
	switch f.Kind {
	case restart:
		e.changeLimit(server)
		server.Restart()
		e.touch()
	case elect:
		e.changeLimit(server)
		e.Ensemble.Elect(f.Server)
		e.touch()
	case freeze:
		e.touch()
		server.Freeze()
		time.Sleep(time.Duration(f.For))
		server.Unfreeze()
		e.touch()
	case lag:
		e.Ensemble.SetLag(f.Server, time.Duration(f.For))
	case stall:
		op := zktest.OpCreate2
		if f.Op == "multi" {
			op = zktest.OpMulti
		}
		e.stall(server, op, time.Duration(f.For), time.Duration(f.Break))
	case swallowReply:
		server.SwallowReply(zktest.Match{Nth: f.Nth})
	case dropEvent:
		server.DropEvent(zktest.Match{Nth: f.Nth})
	case isolate:
		e.Ensemble.Isolate(f.Server)
		e.isolated.Store(true)
		time.AfterFunc(time.Duration(f.For), func() { e.rejoin(f.Server) })
	case removeWaiter:
		e.removeWaiter()
	case healAll:
		e.heal()
	}
}

// stall has a thread of a server execute the next create, or transaction, late. The connections that it may have come
// on break before.
func (e *Env) stall(server *zktest.Server, op zktest.Op, late, broken time.Duration) {
	goOn := server.Stall(zktest.Match{Op: op, Path: e.path + "/*"})
	time.AfterFunc(late, func() { goOn(); e.touch() })
	time.AfterFunc(broken, func() {
		for _, p := range e.peers() {
			p.link.Reset()
		}
	})
}

// removeWaiter removes the node of a contender that waits, as an administrator could. It removes no holder's node: the
// next would be let in before that holder hears of it. With a node ahead, all but a reader wait.
func (e *Env) removeWaiter() {
	number := func(name string) string { return name[max(0, len(name)-10):] }
	nodes := e.Ensemble.Leader().Children(e.path)
	slices.SortFunc(nodes, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	for i, name := range slices.Backward(nodes) {
		if i > 0 && !strings.Contains(name, "READ") && number(name) > number(nodes[0]) {
			_ = e.Ensemble.Leader().Delete(e.path + "/" + name) // it may have gone
			return
		}
	}
}

// heal ends what else would last.
func (e *Env) heal() {
	for _, p := range e.peers() {
		p.link.Heal()
	}
	for i := range e.Ensemble.Size() {
		e.Ensemble.SetLag(i, 0)
		e.rejoin(i)
	}
}

// rejoin ends the isolation of a server, which then reports the sessions that it has heard from.
func (e *Env) rejoin(server int) {
	e.Ensemble.Rejoin(server)
	if e.isolated.Load() {
		e.touch()
	}
}
