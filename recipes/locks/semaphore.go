package locks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/shared"
)

// An InterProcessSemaphoreV2 gives at most a limited number of leases at a time, to whoever came first. It is not reentrant:
// each lease counts.
//
// All clients must have the same limit; it stands nowhere at the servers. With different ones each goes by its own, so that
// there are never more leases than the greatest of them. A [shared.SharedCount] gives all of them one limit, which can be
// changed while the semaphore is in use.
//
// Its methods are safe for concurrent use.
//
// Curator: InterProcessSemaphoreV2.
type InterProcessSemaphoreV2 struct {
	recipe recipe // of the leases
	gate   queue  // whoever is admitted here is the one that waits for leases
	base   string // absolute path
	limit  limit
	looked atomic.Bool // for other recipes on the path
}

var _ Lock = (*InterProcessSemaphoreV2)(nil)

// ErrOtherRecipe says that a path is in use by a recipe that does not go together with the caller's.
var ErrOtherRecipe = errors.New("locks: the path is in use by another recipe")

// Directories of a semaphore.
//
// Curator: InterProcessSemaphoreV2.LOCK_SCHEMA.
const (
	gateDirectory  = "locks"
	leaseDirectory = "leases"
)

// NewInterProcessSemaphoreV2 returns the semaphore at path with a fixed limit. It does no I/O; misuse is told by the first call
// on the semaphore. Lock data goes into the nodes of leases.
//
// Curator: new InterProcessSemaphoreV2(client, path, maxLeases), setNodeData().
func NewInterProcessSemaphoreV2(client *framework.Client, path string, maxLeases int, opts ...Option) *InterProcessSemaphoreV2 {
	s := newSemaphore(client, path, opts)
	s.limit = limit{fixed: maxLeases}
	if maxLeases < 1 || maxLeases > math.MaxInt32 {
		s.recipe.err = errors.Join(s.recipe.err, fmt.Errorf("the limit of a semaphore must be positive and at most 2³¹-1, is %d", maxLeases))
	}
	return s
}

// NewInterProcessSemaphoreV2WithCount returns the semaphore at path with the limit that count has, from moment to moment. A
// limit that is raised lets waiters in at once; one that is lowered takes no lease away. count must have been started.
//
// Curator: new InterProcessSemaphoreV2(client, path, SharedCountReader).
func NewInterProcessSemaphoreV2WithCount(
	client *framework.Client, path string, count *shared.SharedCount, opts ...Option,
) *InterProcessSemaphoreV2 {
	s := newSemaphore(client, path, opts)
	s.limit = limit{count: count}
	if count == nil {
		s.recipe.err = errors.Join(s.recipe.err, errors.New("the shared count is nil"))
	}
	return s
}

func newSemaphore(client *framework.Client, path string, opts []Option) *InterProcessSemaphoreV2 {
	r := newRecipe(client, path, opts)
	if r.queue.opts.handovers > 0 {
		r.err = errors.Join(r.err, errors.New("a semaphore does not hand its leases over: WithLocalHandover is for a mutex or a write lock"))
	}
	r.queue.id.family = semaphoreFamily
	base := r.queue.dir
	r.queue.marker = leaseMarker
	r.queue.dir = under(base, leaseDirectory)
	gate := r.queue
	gate.dir, gate.marker = under(base, gateDirectory), mutexMarker
	gate.opts = &options{trace: r.queue.opts.trace}
	return &InterProcessSemaphoreV2{recipe: r, gate: gate, base: base}
}

// A limit is how many leases there may be.
type limit struct {
	fixed int
	count *shared.SharedCount
}

func (l limit) now() int {
	if l.count != nil {
		return int(l.count.Count())
	}
	return l.fixed
}

// Acquire waits for one lease. See AcquireN.
//
// Curator: InterProcessSemaphoreV2.acquire(), acquire(time, unit).
func (s *InterProcessSemaphoreV2) Acquire(ctx context.Context) (*Lease, error) {
	leases, err := s.AcquireN(ctx, 1)
	if err != nil {
		return nil, err
	}
	return leases[0], nil
}

// AcquireN waits for n leases: it returns all of them or none.
//
// It blocks until everybody who came before has been served and n leases are free, or ctx is done. Whoever comes later waits
// behind it, also for fewer leases. More than a fixed limit are refused at once. A wait goes on through lost connections and
// sessions, like that for a mutex.
//
// Errors are [*AcquireError]s as for [InterProcessMutex.Acquire]; [ErrOtherRecipe] if there is a mutex or a read/write lock at
// the same path. No node is left behind.
//
// Curator: InterProcessSemaphoreV2.acquire(qty), acquire(qty, time, unit).
func (s *InterProcessSemaphoreV2) AcquireN(ctx context.Context, n int) ([]*Lease, error) {
	return s.acquire(ctx, n, func(ctx context.Context) ([]*grant, place, error) {
		return throughSessions(ctx, s.gate.client, func(session *framework.Session) ([]*grant, place, error) {
			return s.contend(ctx, session, n)
		})
	})
}

// TryAcquire returns a lease if one is free and nobody waits, and [ErrNotAcquired] otherwise. If none is free it costs one
// read and writes nothing.
//
// Curator: InterProcessSemaphoreV2.acquire(0, unit).
func (s *InterProcessSemaphoreV2) TryAcquire(ctx context.Context) (*Lease, error) {
	leases, err := s.TryAcquireN(ctx, 1)
	if err != nil {
		return nil, err
	}
	return leases[0], nil
}

// TryAcquireN is TryAcquire of n leases.
//
// Curator: InterProcessSemaphoreV2.acquire(qty, 0, unit).
func (s *InterProcessSemaphoreV2) TryAcquireN(ctx context.Context, n int) ([]*Lease, error) {
	return s.acquire(ctx, n, func(ctx context.Context) ([]*grant, place, error) { return s.try(ctx, n) })
}

// acquire checks what is asked for. A semaphore is not reentrant, so contend is all there is to an acquire.
func (s *InterProcessSemaphoreV2) acquire(ctx context.Context, n int, contend contention) ([]*Lease, error) {
	var problem error
	switch {
	case n < 1:
		problem = fmt.Errorf("the number of leases must be positive, is %d", n)
	case s.limit.count == nil && n > s.limit.fixed:
		problem = fmt.Errorf("%d leases are more than the limit of %d", n, s.limit.fixed)
	}
	if problem != nil && s.recipe.err == nil {
		return nil, &AcquireError{Path: s.recipe.queue.path, Err: problem}
	}
	none := func(context.Context) (*Lease, error) { return nil, nil }
	return s.recipe.acquireAll(ctx, none, func(ctx context.Context) ([]*grant, place, error) {
		grants, at, err := contend(ctx)
		at.ownClient = false // not a lease whose context could have been handed on
		return grants, at, err
	})
}

// contend passes the gate and waits for n leases. The gate is kept for all of them: two contenders that each had a part of what
// they need would wait for each other. It is left in the background.
func (s *InterProcessSemaphoreV2) contend(ctx context.Context, session *framework.Session, n int) ([]*grant, place, error) {
	gate, err := s.enterGate(ctx, session)
	if err != nil {
		return nil, place{}, err
	}
	defer gate.leave()
	if err := gate.waitTurn(ctx); err != nil {
		return nil, gate.place, err
	}
	b := batch{semaphore: s, session: session, gate: gate}
	defer b.leave()
	for range n {
		if err := b.enter(ctx); err != nil {
			return nil, gate.place, err
		}
		if err := b.wait(ctx); err != nil {
			return nil, gate.place, err
		}
	}
	grants, err := b.admit(ctx, b.wait)
	return grants, gate.place, err
}

func (s *InterProcessSemaphoreV2) try(ctx context.Context, n int) ([]*grant, place, error) {
	session, err := s.gate.client.Session(ctx)
	if err != nil {
		return nil, place{}, err
	}
	children, err := s.recipe.queue.list(ctx, session)
	if err != nil {
		return nil, place{}, err
	}
	if leases(children)+n > s.limit.now() {
		return nil, place{}, ErrNotAcquired
	}
	gate, err := s.enterGate(ctx, session)
	if err != nil {
		return nil, place{}, err
	}
	defer gate.leave()
	if t, err := gate.turn(ctx); err != nil || !t.admitted {
		return nil, gate.place, orNotAcquired(err)
	}
	b := batch{semaphore: s, session: session, gate: gate}
	defer b.leave()
	for range n {
		if err := b.enter(ctx); err != nil {
			return nil, gate.place, err
		}
	}
	if permitted, err := b.permitted(ctx); err != nil || !permitted {
		return nil, gate.place, orNotAcquired(err)
	}
	grants, err := b.admit(ctx, func(ctx context.Context) error {
		if permitted, err := b.permitted(ctx); err != nil || !permitted {
			return orNotAcquired(err)
		}
		return nil
	})
	if err != nil {
		return nil, gate.place, orNotAcquired(err)
	}
	return grants, gate.place, nil
}

// orNotAcquired is what a try says that did not succeed, if nothing worse happened than that somebody was before it, or that its
// node was removed.
func orNotAcquired(err error) error {
	if err == nil || errors.Is(err, errRequeue) {
		return ErrNotAcquired
	}
	return err
}

// enterGate enters the queue for leases. The first time, it looks whether the path belongs to another recipe.
func (s *InterProcessSemaphoreV2) enterGate(ctx context.Context, session *framework.Session) (*contender, error) {
	if !s.looked.Load() {
		children, err := session.List(ctx, s.base)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, err
		}
		for _, name := range children {
			if _, ok := parseNode(name, nil); ok {
				return nil, fmt.Errorf("%w: there is %s", ErrOtherRecipe, name)
			}
		}
		s.looked.Store(true)
	}
	return s.gate.enter(ctx, session)
}

// leases returns how many of them a listing has.
func leases(children []string) int {
	n := 0
	for _, name := range children {
		if isLease(name) {
			n++
		}
	}
	return n
}

// Participants returns the leases that are held, and that of the one who waits for it, in the order in which they were made.
//
// Curator: InterProcessSemaphoreV2.getParticipantNodes().
func (s *InterProcessSemaphoreV2) Participants(ctx context.Context) ([]Participant, error) {
	parse := func(name string) (node, bool) {
		_, number, _ := cutNumber(name)
		return node{name: name, number: number}, isLease(name)
	}
	limit := s.limit.now()
	holds := func(_ []node, i int) bool { return i < limit }
	return s.recipe.participants(ctx, parse, func(node) bool { return true }, holds)
}

// IsAcquiredInThisProcess reports whether anybody holds a lease through the same client.
func (s *InterProcessSemaphoreV2) IsAcquiredInThisProcess() bool {
	return held.any(s.recipe.queue.id, func(*grant) bool { return true })
}
