package nodestest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/locks/lockstest"
	"github.com/gocurator/curator/recipes/nodes"
)

// Dir is where the programs of Run register.
const Dir = "/registered"

// Servers are the real ones of a run.
type Servers struct {
	Connect        string
	SessionTimeout time.Duration
	Tick           time.Duration
	// Disturb lets the servers restart, or elect another leader.
	Disturb func()
	// Transactions reads what they have executed.
	Transactions func() ([]zktest.Transaction, error)
}

// patience bounds the wait for what must happen.
const patience = time.Minute

// A run is a random schedule on real servers.
type run struct {
	t        *testing.T
	servers  Servers
	dice     *rand.Rand
	hand     *framework.Client
	reader   *cache.CuratorCache
	programs []*program
	killed   []*program
	calls    sync.WaitGroup

	mu         sync.Mutex
	claims     []Claim
	departures []Departure
	touched    []time.Time
}

// A program is a process with a client.
type program struct {
	name      string
	link      *lockstest.Link
	client    *framework.Client
	providers []*provider // guarded by the run's mutex
}

// A provider is one registration.
type provider struct {
	of    *program
	node  *nodes.PersistentNode
	path  string
	since time.Time // running, if it is not zero
	over  bool
}

// Run lets programs register, close, die and be cut off at random, in rounds of so many steps, checks what is listed
// after each round, and what the servers have executed at the end.
func Run(t *testing.T, servers Servers, seed uint64, rounds, steps int) {
	r := &run{t: t, servers: servers, dice: rand.New(rand.NewPCG(seed, 0))}
	r.hand = r.connect(new(net.Dialer).DialContext)
	defer r.hand.Close()
	r.reader = cache.NewCuratorCache(r.hand, Dir, cache.WithDepth(1))
	if err := r.reader.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		r.programs = append(r.programs, r.begin(fmt.Sprint(i)))
	}
	for round := range rounds {
		for range steps {
			time.Sleep(time.Duration(r.dice.IntN(20)) * time.Millisecond)
			r.act(r.programs[r.dice.IntN(len(r.programs))])
		}
		if round > 0 {
			r.disturb(r.programs[r.dice.IntN(len(r.programs))])
		}
		for _, p := range r.programs {
			p.link.Resume()
			p.link.Heal()
		}
		r.quiet(round)
	}
	r.end()
	r.check()
}

func (r *run) connect(dial func(ctx context.Context, network, address string) (net.Conn, error)) *framework.Client {
	client, err := framework.NewClient(r.servers.Connect, framework.WithDialer(dial),
		framework.WithSessionTimeout(r.servers.SessionTimeout), framework.WithConnectionTimeout(patience))
	if err != nil {
		r.t.Fatal(err)
	}
	return client
}

func (r *run) begin(name string) *program {
	p := &program{name: name, link: lockstest.NewLink(r.servers.Connect, new(net.Dialer).DialContext)}
	p.client = r.connect(p.link.DialContext)
	return p
}

// quiet waits until each name that a provider wants is one's that wants it, and no other name is listed; and wants the
// reader to list the same.
func (r *run) quiet(round int) {
	r.t.Helper()
	var differs string
	if !await.Within(patience, func() bool { differs = r.differs(); return differs == "" }) {
		await.Fatalf(r.t, "round %d: %s", round, differs)
	}
}

func (r *run) differs() string {
	names, _, err := r.hand.Children(r.t.Context(), Dir)
	if err != nil {
		names = nil
	}
	var read []string
	for n := range r.reader.Children(Dir) {
		read = append(read, n.Path[len(Dir)+1:])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	want, there := map[string]bool{}, map[string]int{}
	for _, p := range r.programs {
		for _, q := range p.providers {
			if !q.over {
				want[q.path[len(Dir)+1:]] = true
			}
			if q.node.There() {
				there[q.path[len(Dir)+1:]]++
			}
		}
	}
	slices.Sort(names)
	slices.Sort(read)
	for _, name := range names {
		if !want[name] || there[name] != 1 {
			return fmt.Sprintf("%s is listed; wanted: %t; %d say that it is theirs", name, want[name], there[name])
		}
	}
	if len(names) != len(want) || !slices.Equal(names, read) {
		return fmt.Sprintf("%q are listed, and %q to the reader, want %v", names, read, want)
	}
	return ""
}

// end closes everything, and waits until nothing is left.
func (r *run) end() {
	for _, p := range r.programs {
		for q := r.pick(p); q != nil; q = r.pick(p) {
			r.close(q)
		}
	}
	r.calls.Wait()
	await.Until(r.t, patience, "no node to be left", func() bool { return r.differs() == "" })
	if err := r.reader.Close(); err != nil {
		r.t.Error(err)
	}
	for _, p := range r.programs {
		_ = p.client.Close()
	}
}

// check reads what the servers have executed.
func (r *run) check() {
	all, err := r.servers.Transactions()
	if err != nil {
		r.t.Fatal(err)
	}
	h := NewHistory(Dir, all, r.process)
	const late = 5 * time.Second // a machine that is busy
	h.CheckReplacements(r.claims)
	h.CheckDepartures(r.departures, r.servers.SessionTimeout+2*r.servers.Tick+late, r.touched)
	for _, problem := range h.Problems() {
		r.t.Error(problem)
	}
	r.t.Logf("%d transactions, %d claims, %d nodes were replaced, %d programs were killed",
		len(all), len(r.claims), h.Replaced(), len(r.killed))
	if len(r.claims) == 0 || len(r.killed) == 0 {
		r.t.Error("got a run in which nothing registers, or nothing is killed")
	}
}

// process returns the name of the program that has had a session; "" of what is done by hand.
func (r *run) process(session int64) string {
	for _, p := range slices.Concat(r.programs, r.killed) {
		if p.link.Password(session) != nil {
			return p.name
		}
	}
	return ""
}
