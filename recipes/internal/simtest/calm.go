package simtest

import (
	"slices"
	"time"
)

// Calm heals everything, and lets no fault begin for a time. What has begun goes on: an answer that is to be lost is
// lost.
func (e *Env) Calm(d time.Duration) {
	e.mu.Lock()
	e.calmUntil = time.Now().Add(d)
	e.mu.Unlock()
	e.heal()
}

// awaitStorm waits until faults may happen, and reports false if the simulation ends before.
func (e *Env) awaitStorm(stop <-chan struct{}) bool {
	for {
		e.mu.Lock()
		left := time.Until(e.calmUntil)
		e.mu.Unlock()
		if left <= 0 {
			return true
		}
		select {
		case <-stop:
			return false
		case <-time.After(left):
		}
	}
}

// Elect has another server lead, or the only one restart: all sessions get their full timeout again.
func (e *Env) Elect(dice Dice) {
	if n := e.Ensemble.Size(); n > 1 {
		e.strike(Fault{Kind: elect, Server: dice.Pick(n)})
		return
	}
	e.strike(Fault{Kind: restart})
}

// Stall has a server execute the next create, or transaction, so much later. Connections break meanwhile.
func (e *Env) Stall(dice Dice, late time.Duration) {
	f := Fault{Kind: stall, Server: dice.Pick(e.Ensemble.Size()), For: span(late), Break: span(dice.Some(time.Second))}
	if dice.Pick(3) == 0 {
		f.Op = "multi"
	}
	e.strike(f)
}

func (e *Env) touch() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.touched = append(e.touched, time.Now())
}

// Touched returns when sessions may have got their full timeout again: at an election and a restart, at the begin and
// the end of a freeze, in which the servers' clock stands still, when a server rejoins, and when a stalled request is
// executed.
func (e *Env) Touched() []time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.touched)
}

// Elapsed is how long the simulation has lasted.
func (e *Env) Elapsed() time.Duration { return time.Since(e.start) }
