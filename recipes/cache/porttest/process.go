package porttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/locks/lockstest"
	"github.com/gocurator/curator/retry"
)

// A process is a client with a path of its own to the servers, and the program that it runs.
type process struct {
	*framework.Client
	name   string
	number int
	link   *lockstest.Link
	dice   *rand.Rand

	program              // nil until it has started
	announcer *Announcer // set by the program's start, nil without one
}

// A program is what a process runs.
type program interface {
	step(ctx context.Context)                       // changes something
	has() map[string]string                         // what the program knows
	wants(tree map[string]string) map[string]string // what it should, by the nodes that the servers have
	caches() []*cache.CuratorCache
	close()
}

// A startFunc starts a program in a process. It fails the test if the program does not start.
type startFunc func(ctx context.Context, w *world, p *process) program

// join starts a process.
func (w *world) join(number int) *process {
	w.t.Helper()
	p := &process{
		name: fmt.Sprintf("process %d", number), number: number, link: w.server.NewLink(),
		dice: rand.New(rand.NewPCG(w.Seed, uint64(number+1))),
	}
	client, err := framework.NewClient(p.link.Servers(), framework.WithDialer(p.link.DialContext),
		framework.WithSessionTimeout(w.server.SessionTimeout()), framework.WithRetryPolicy(retry.NTimes(10, 50*time.Millisecond)))
	if err != nil {
		w.t.Fatal(err)
	}
	p.Client = client
	ctx, cancel := await.Context(w.t.Context(), w.t, w.patience, p.name+" to start")
	defer cancel()
	if err := client.BlockUntilConnected(ctx); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		p.link.Heal()
		if p.program != nil {
			p.close()
		}
		_ = client.Close()
	})
	p.program = w.start(ctx, w, p)
	w.processes = append(w.processes, p)
	return p
}
