package simtest

import (
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// session returns the only one that the servers have, 0 if they have none.
func (e *Env) session() int64 {
	for _, s := range e.Ensemble.Leader().Sessions() {
		return s.ID
	}
	return 0
}

func TestTheSessionOfAKilledPeerIsLeftToTheServers(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		e := New(t, 1, 1, path)
		e.AddProcess(time.Millisecond)
		killed := e.Peers[0]
		s, err := killed.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		successor := e.Kill(killed, 0)
		defer successor.Close()
		e.heal() // a killed peer stays dead
		if !killed.Had(s.ID()) || successor.Had(s.ID()) {
			t.Errorf("the session: got %t of the killed peer and %t of its successor, want true and false",
				killed.Had(s.ID()), successor.Had(s.ID()))
		}
		if e.Peers[0] != successor || successor.Name() != "A2" {
			t.Errorf("got the successor %q in place of %q, want A2", successor.Name(), killed.Name())
		}
		time.Sleep(SessionTimeout - time.Second)
		if got := e.session(); got != s.ID() {
			t.Errorf("got the session %#x before its timeout, want %#x", got, s.ID())
		}
		time.Sleep(2 * time.Second)
		if got := e.session(); got == s.ID() {
			t.Errorf("got the session %#x after its timeout, want none", got)
		}
	})
}

func TestASuspendedPeerIsSilentUntilItResumes(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		e := New(t, 1, 1, path)
		e.AddPeer(time.Millisecond)
		p := e.Peers[0]
		defer p.Close()
		if _, err := p.Session(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, long := range []time.Duration{time.Second, 2 * SessionTimeout} {
			count := e.Ensemble.Leader().CountRequests(zktest.Match{Op: zktest.OpExists})
			p.Suspend()
			began := time.Now()
			time.AfterFunc(long, p.Resume)
			e.heal() // no fault of the network
			if long > SessionTimeout {
				time.Sleep(long - time.Second)
				if got := e.session(); got != 0 {
					t.Errorf("got the session %#x of a peer that is suspended for %v, want none", got, long)
				}
			}
			if _, err := p.Exists(t.Context(), "/"); err != nil && time.Since(began) >= long {
				t.Errorf("got %v after %v, want an answer", err, time.Since(began))
			}
			time.Sleep(time.Second)
			if time.Since(began) < long || count() == 0 {
				t.Errorf("got %d requests after %v, want some after %v", count(), time.Since(began), long)
			}
		}
	})
}

func TestNoFaultBeginsWhileItIsCalm(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		e := New(t, 1, 3, path)
		e.AddPeer(0)
		const calm = 3 * time.Minute
		var begin, end time.Duration
		var actor sync.WaitGroup
		actor.Go(func() {
			time.Sleep(time.Minute)
			e.Calm(calm)
			begin, end = e.Elapsed(), e.Elapsed()+calm
			time.Sleep(calm + time.Minute)
		})
		e.Run(&actor, true)
		before, after := 0, 0
		for _, happened := range e.events {
			switch at := time.Duration(happened.At); {
			case happened.Fault == nil:
			case at <= begin:
				before++
			case at >= end:
				after++
			default:
				t.Errorf("got %v, want no fault from %v to %v", happened, begin, end)
			}
		}
		if before == 0 || after == 0 {
			t.Errorf("got %d faults before the calm and %d after it, want some", before, after)
		}
	})
}
