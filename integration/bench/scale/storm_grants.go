package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// grants are the leases of a storm's locks. It finds two at a time.
type grants struct {
	mu      sync.Mutex
	current []*locks.Lease
	tokens  []int64 // the newest of each lock
	counts  []int   // how many leases each lock has had
	lost    int
	overlap bool  // two leases at once are no mistake
	wrong   error // what must not be
}

func (g *grants) init(locksOf int) {
	g.current, g.tokens, g.counts = make([]*locks.Lease, locksOf), make([]int64, locksOf), make([]int, locksOf)
}

// granted checks that the lease before has ended, by its own clock, and that the token is greater.
func (g *grants) granted(lock int, lease *locks.Lease) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if before := g.current[lock]; before != nil && before.Err() == nil && !g.overlap {
		g.wrong = fmt.Errorf("%s and %s are leases of one lock at once", before.NodeName(), lease.NodeName())
	}
	if token := lease.FencingToken(); token <= g.tokens[lock] {
		g.wrong = fmt.Errorf("%s was granted out of order: %#x after %#x", lease.NodeName(), token, g.tokens[lock])
	}
	g.current[lock], g.tokens[lock] = lease, lease.FencingToken()
	g.counts[lock]++
}

func (g *grants) allowOverlap() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.overlap = true
}

func (g *grants) ended(lock int, lease *locks.Lease) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lost++
	if g.current[lock] == lease {
		g.current[lock] = nil
	}
}

// heldBy checks that a lock's lease is valid, and that of a node.
func (g *grants) heldBy(lock int, node string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	lease := g.current[lock]
	switch {
	case g.wrong != nil:
		return g.wrong
	case lease == nil:
		return fmt.Errorf("lock %d has no holder, although %s is first", lock, node)
	case lease.Err() != nil:
		return fmt.Errorf("the holder of lock %d has lost it: %w", lock, lease.Err())
	case !strings.HasSuffix(lease.NodeName(), node):
		return fmt.Errorf("lock %d is held by %s, although %s is first", lock, lease.NodeName(), node)
	}
	return nil
}

// count is how many leases a lock has had.
func (g *grants) count(lock int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.counts[lock]
}

// owner is the session of a lock's holder, as the servers know it.
func (g *grants) owner(ctx context.Context, lock int, client *framework.Client, path string) (int64, error) {
	g.mu.Lock()
	lease := g.current[lock]
	g.mu.Unlock()
	if lease == nil {
		return 0, fmt.Errorf("%s has no holder", path)
	}
	stat, err := client.Exists(ctx, path+"/"+lease.NodeName())
	if err != nil {
		return 0, err
	}
	if stat == nil {
		return 0, fmt.Errorf("the node of the holder of %s is gone", path)
	}
	return stat.EphemeralOwner, nil
}

func (g *grants) lostSoFar() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lost
}

// firstInLine is the node with the lowest number, which has ten digits at the end.
func firstInLine(nodes []string) string {
	const digits = 10
	first := nodes[0]
	for _, node := range nodes {
		if node[max(0, len(node)-digits):] < first[max(0, len(first)-digits):] {
			first = node
		}
	}
	return first
}
