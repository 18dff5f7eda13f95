package nodestest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/locks/lockstest"
	"github.com/gocurator/curator/recipes/nodes"
)

// act does one thing at random.
func (r *run) act(p *program) {
	switch r.dice.IntN(12) {
	case 0, 1, 2, 3:
		r.register(p, fmt.Sprint("id", r.dice.IntN(3)))
	case 4:
		if q := r.pick(p); q != nil {
			r.close(q)
		}
	case 5:
		r.kill(p)
	case 6:
		p.link.Cut()
	case 7:
		p.link.Heal()
	case 8:
		p.link.Reset()
	case 9:
		p.link.DropReply([]lockstest.Op{lockstest.Create, lockstest.Delete, lockstest.Multi}[r.dice.IntN(3)])
	case 10:
		p.link.Suspend()
		time.AfterFunc(r.servers.SessionTimeout/2, p.link.Resume)
	default:
		_ = r.hand.Delete(r.t.Context(), fmt.Sprint(Dir, "/id", r.dice.IntN(3)), -1) // it may not be there
	}
}

func (r *run) register(p *program, name string) {
	q := &provider{of: p, node: nodes.NewPersistentNode(p.client, Dir+"/"+name, []byte(p.name)), path: Dir + "/" + name}
	r.mu.Lock()
	p.providers = append(p.providers, q)
	r.mu.Unlock()
	r.calls.Go(func() {
		err := q.node.Start(r.t.Context())
		r.mu.Lock()
		defer r.mu.Unlock()
		if q.over = q.over || err != nil; !q.over {
			q.since = time.Now()
		}
	})
}

// pick chooses a provider that starts or runs.
func (r *run) pick(p *program) *provider {
	r.mu.Lock()
	defer r.mu.Unlock()
	open := slices.DeleteFunc(slices.Clone(p.providers), func(q *provider) bool { return q.over })
	if len(open) == 0 {
		return nil
	}
	return open[r.dice.IntN(len(open))]
}

func (r *run) close(q *provider) {
	r.over(q)
	r.calls.Go(func() {
		for errors.Is(q.node.Close(), context.DeadlineExceeded) {
		}
	})
}

func (r *run) over(q *provider) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !q.over && !q.since.IsZero() {
		until := time.Now().Truncate(time.Millisecond) // as servers log
		r.claims = append(r.claims, Claim{Process: q.of.name, Path: q.path, From: q.since, Until: until})
	}
	q.over = true
}

// kill ends a program without a word to the servers. Its successor wants what it had.
func (r *run) kill(p *program) {
	p.link.Cut()
	r.mu.Lock()
	r.departures = append(r.departures, Departure{Process: p.name, At: time.Now()})
	r.mu.Unlock()
	i := slices.Index(r.programs, p)
	r.killed = append(r.killed, p)
	r.programs[i] = r.begin(fmt.Sprint(p.name, "+"))
	for q := r.pick(p); q != nil; q = r.pick(p) {
		r.over(q)
		r.register(r.programs[i], q.path[len(Dir)+1:])
	}
	r.calls.Go(func() { _ = p.client.Close() }) // what was sent with a reset connection may still arrive
}

// disturb stops a program while the servers give each session its full timeout again: so its session outlives the
// client's belief in it, and the next one finds its node.
func (r *run) disturb(p *program) {
	p.link.Heal()
	r.register(p, "disturbed")
	q := p.providers[len(p.providers)-1]
	await.Until(r.t, patience, "a provider to be there", q.node.There)
	p.link.Suspend()
	stopped := time.Now()
	r.servers.Disturb()
	r.mu.Lock()
	for at := stopped; at.Before(time.Now()); at = at.Add(time.Second) { // no session ends while the servers are down
		r.touched = append(r.touched, at)
	}
	r.touched = append(r.touched, time.Now())
	r.mu.Unlock()
	time.Sleep(time.Until(stopped.Add(r.servers.SessionTimeout + r.servers.Tick/2)))
}
