package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/simtest"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/nodes/nodestest"
)

// A process is a program with a client. It may be killed: then another one takes its place.
type process struct {
	*simulation
	peer *simtest.Peer
	dead []*simtest.Peer

	// Guarded by the simulation's mutex.
	providers []*provider
	resumes   time.Time
}

// A provider is a registration, from Start to Close.
type provider struct {
	*process
	who   string
	peer  *simtest.Peer
	node  *nodes.PersistentNode
	name  string // as it was asked for
	fixed bool   // it has no number
	path  string // "" until it is there
	stop  context.CancelFunc
	state state
	since time.Time // there
}

type state int

const (
	starting state = iota
	running
	over // closed, failed or killed
)

// pick chooses one of the process's providers.
func (p *process) pick(states ...state) *provider {
	p.mu.Lock()
	defer p.mu.Unlock()
	var some []*provider
	for _, r := range p.providers {
		if slices.Contains(states, r.state) {
			some = append(some, r)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[p.Pick(len(some))]
}

// start registers: under one of few names, which others use, too, or under a number.
func (p *process) start() {
	if p.Pick(4) == 0 {
		p.register(fmt.Sprint("n", p.names, "-"), false)
		return
	}
	p.register(fmt.Sprint("id", p.Pick(3)), true)
}

// startLate registers while a server executes a create late, if the simulation has faults, and mostly closes before.
func (p *process) startLate() {
	late := p.Some(simtest.SessionTimeout)
	if p.faulty {
		p.Stall(p.Dice, late)
	}
	p.start()
	time.Sleep(p.Some(late + time.Second))
	p.close()
}

// restart closes a provider, and starts the next one under its name at once.
func (p *process) restart() {
	r := p.pick(running)
	if r == nil {
		return
	}
	r.close()
	if r.fixed {
		time.Sleep(p.Some(50 * time.Millisecond))
		p.register(r.name, true)
	}
}

func (p *process) register(name string, fixed bool) {
	p.names++
	mode := framework.EphemeralSequential
	if fixed {
		mode = framework.Ephemeral
	}
	ctx, cancel := context.WithCancel(p.T.Context())
	if p.Pick(4) == 0 { // it will not wait for ever
		ctx, cancel = context.WithTimeout(p.T.Context(), p.Some(8*time.Second))
	}
	who := fmt.Sprint(p.peer.Name(), ".", p.names)
	r := &provider{process: p, who: who, peer: p.peer, name: name, fixed: fixed, stop: cancel}
	r.node = nodes.NewPersistentNode(p.peer.Client, dir+"/"+name, []byte(r.who), nodes.WithMode(mode))
	p.Note(r.who, "starts %s", name)
	p.mu.Lock()
	p.providers = append(p.providers, r)
	p.mu.Unlock()
	p.calls.Go(func() {
		err := r.node.Start(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.Note(r.who, "started: %v", err)
		switch {
		case err != nil:
			r.state = over
		case r.state == starting:
			r.state, r.path, r.since = running, r.node.Path(), time.Now()
		}
	})
}

// close closes a provider, which may still be waiting in Start.
func (p *process) close() {
	if r := p.pick(starting, running); r != nil {
		r.close()
	}
}

func (p *process) closeAll() {
	for r := p.pick(starting, running); r != nil; r = p.pick(starting, running) {
		r.close()
	}
}

func (r *provider) close() {
	time.Sleep(333 * time.Microsecond) // other things happen at whole milliseconds: a listener has heard of them
	called := time.Now()
	was := r.end(called)
	if was == over {
		return
	}
	r.Note(r.who, "closes %s", r.path)
	before, connected := r.session(), time.Since(r.peer.ConnectedSince()) > 0
	r.calls.Go(func() {
		err := r.node.Close()
		for again := 0; errors.Is(err, nodes.ErrNotStarted) && again < 10; again++ { // Start is about to begin
			time.Sleep(time.Millisecond)
			err = r.node.Close()
		}
		r.Note(r.who, "closed: %v", err)
		if after := r.session(); err == nil && was == running && connected && before != 0 && before == after {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.closings = append(r.closings, nodestest.Closing{
				Process: r.peer.Name(), Path: r.path, Called: called, Returned: time.Now(),
			})
		}
	})
}

// end ends what the provider claims.
func (r *provider) end(at time.Time) (was state) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was = r.state; was == running {
		r.claims = append(r.claims, nodestest.Claim{Process: r.peer.Name(), Path: r.path, From: r.since, Until: at})
	}
	r.state = over
	return was
}

// session returns the one that is connected, 0 if there is none.
func (r *provider) session() int64 {
	if !r.peer.State().IsConnected() {
		return 0
	}
	ctx, cancel := context.WithTimeout(r.T.Context(), time.Millisecond)
	defer cancel()
	if s, err := r.peer.Session(ctx); err == nil {
		return s.ID()
	}
	return 0
}

func (p *process) set() {
	r := p.pick(running)
	if r == nil {
		return
	}
	p.names++
	data := fmt.Sprint(r.who, " ", p.names)
	r.Note(r.who, "sets %q", data)
	p.calls.Go(func() {
		ctx, cancel := context.WithTimeout(p.T.Context(), 20*time.Second)
		defer cancel()
		r.Note(r.who, "set %q: %v", data, r.node.Set(ctx, []byte(data)))
	})
}

// die kills the process. Its successor registers at once what it had registered.
func (p *process) die() {
	now := time.Now()
	p.Note(p.peer.Name(), "is killed")
	p.depart(nodestest.Departure{Process: p.peer.Name(), At: now})
	var names []string
	for r := p.pick(starting, running); r != nil; r = p.pick(starting, running) {
		if r.end(now); r.fixed {
			names = append(names, r.name)
		}
		r.stop()
	}
	killed := p.peer
	p.peer = p.Kill(killed, p.latency())
	p.dead = append(p.dead, killed)
	for _, name := range names {
		p.register(name, true)
	}
}

func (p *process) depart(d nodestest.Departure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.departures = append(p.departures, d)
}

// suspend stops the process for a time, in which an election may be.
func (p *process) suspend() {
	now, long := time.Now(), p.Some(3*simtest.SessionTimeout)
	if p.Pick(2) == 0 { // so that the session may outlive the client's belief in it
		elect := p.Some(simtest.SessionTimeout)
		long = simtest.SessionTimeout + p.Some(simtest.SessionTimeout)
		dice := p.Env.Dice(-100 - p.names)
		time.AfterFunc(elect, func() { p.Elect(dice) })
	}
	p.Note(p.peer.Name(), "is suspended for %v", long)
	p.depart(nodestest.Departure{Process: p.peer.Name(), At: now, Until: now.Add(long)})
	p.mu.Lock()
	p.resumes = now.Add(long)
	p.mu.Unlock()
	peer := p.peer
	peer.Suspend()
	time.AfterFunc(long, peer.Resume)
	if r := p.pick(running); r != nil && p.Pick(2) == 0 { // it is closed when the next session begins
		time.AfterFunc(long+p.Some(300*time.Millisecond), r.close)
	}
}

func (p *process) suspended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.resumes)
}

// expire ends the session of the process, as an administrator could.
func (p *process) expire() {
	r := &provider{process: p, peer: p.peer}
	if id := r.session(); id != 0 {
		p.Note(p.peer.Name(), "has its session ended")
		p.ended[id] = true
		p.Ensemble.Leader().ExpireSession(id)
	}
}
