package locks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/retry"
)

// An InterProcessSemaphoreV2 gives at most a limited number of leases at a time, in the order of the requests. It is
// not reentrant: each lease counts. It is safe for concurrent use.
//
// All clients must have the same limit, which the servers do not store. With different ones there are never more leases
// than the greatest. A [shared.SharedCount] gives all of them one limit that can change.
//
// Curator: InterProcessSemaphoreV2.
type InterProcessSemaphoreV2 struct {
	recipe recipe       // the leases' recipe
	gate   *queue.Queue // the contender that it admits waits for leases
	limit  limit
	looked atomic.Bool // it was checked whether other recipes use the path
}

var _ Lock = (*InterProcessSemaphoreV2)(nil)

// ErrOtherRecipe says that another, incompatible recipe uses the path.
var ErrOtherRecipe = errors.New("locks: the path is in use by another recipe")

// Directories of a semaphore.
//
// Curator: InterProcessSemaphoreV2.LOCK_SCHEMA.
const (
	gateDirectory  = "locks"
	leaseDirectory = "leases"
)

// NewInterProcessSemaphoreV2 returns the semaphore at path with a fixed limit. It does no I/O; the first call reports
// misuse. Lock data goes into leases' nodes.
//
// Curator: new InterProcessSemaphoreV2(client, path, maxLeases), setNodeData().
func NewInterProcessSemaphoreV2(client *framework.Client, path string, maxLeases int, opts ...Option) *InterProcessSemaphoreV2 {
	s := newSemaphore(client, path, opts)
	s.limit = limit{fixed: maxLeases}
	if maxLeases < 1 || maxLeases > math.MaxInt32 {
		s.recipe.err = session.JoinErrors(s.recipe.err, fmt.Errorf("the limit of a semaphore must be positive and at most 2³¹-1, is %d", maxLeases))
	}
	return s
}

// NewInterProcessSemaphoreV2WithCount returns the semaphore at path with count as its limit. A raised limit admits
// waiters; a lowered one takes no lease away.
//
// While the count's Err is not nil, acquires fail with an error that names the count and unwraps to its Err, such as
// [shared.ErrNotStarted], zk.ErrNoAuth or framework.ErrNoChroot. A waiting acquire fails when it is first in line.
// Waiters outlast an outage, and no contender is admitted before the count has been read again. So count should be of
// client, or of a view of it, to have the same outages.
//
// A new acquire is also refused while the count is negative: -1 does not mean "no limit". A limit below 1 admits no
// waiting contender.
//
// Curator: new InterProcessSemaphoreV2(client, path, SharedCountReader).
func NewInterProcessSemaphoreV2WithCount(
	client *framework.Client, path string, count *shared.SharedCount, opts ...Option,
) *InterProcessSemaphoreV2 {
	s := newSemaphore(client, path, opts)
	s.limit = limit{count: count}
	if count == nil {
		s.recipe.err = session.JoinErrors(s.recipe.err, errors.New("the shared count is nil"))
	}
	return s
}

func newSemaphore(client *framework.Client, path string, opts []Option) *InterProcessSemaphoreV2 {
	r := newRecipe(client, path, opts, kind{family: semaphoreFamily, marker: queue.LeaseMarker, below: leaseDirectory, leases: true})
	gate := r.queue.Config
	gate.Dir, gate.Marker, gate.Counts, gate.Data = queue.ChildPath(r.id.path, gateDirectory), queue.MutexMarker, queue.LockMarkers(), nil
	s := &InterProcessSemaphoreV2{recipe: r, gate: queue.New(gate)}
	s.recipe.crowded, s.recipe.onLimit = s.crowded, s.onLimit
	return s
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
// It blocks until all earlier requests have been served and n leases are free, or ctx is done. A later request waits
// behind it, even for fewer leases. More than a fixed limit are refused without waiting. Otherwise it is like
// [InterProcessMutex.Acquire].
//
// Curator: InterProcessSemaphoreV2.acquire(qty), acquire(qty, time, unit).
func (s *InterProcessSemaphoreV2) AcquireN(ctx context.Context, n int) ([]*Lease, error) {
	return s.acquireN(ctx, n, func(ctx context.Context) ([]*queue.Grant, queue.Progress, error) {
		return queue.AcrossSessions(ctx, s.gate.Config.Source, func(session framework.Session) ([]*queue.Grant, queue.Progress, error) {
			return s.contend(ctx, session, n)
		})
	})
}

type contentionN func(ctx context.Context) ([]*queue.Grant, queue.Progress, error)

// acquireN checks n. Without re-entry, contend is all of an acquire.
func (s *InterProcessSemaphoreV2) acquireN(ctx context.Context, n int, contend contentionN) (leases []*Lease, err error) {
	if problem := s.refuseN(n); problem != nil && s.recipe.misuse() == nil {
		return nil, &AcquireError{Path: s.recipe.path, Err: problem}
	}
	ctx, begun, err := s.recipe.begin(ctx)
	if err != nil {
		return nil, err
	}
	var got outcome
	leases, got.at, err = s.acquireOnce(ctx, contend)
	got.at.OwnClient = false // not a lease whose context could have been handed on
	if err == nil {
		got.lease = leases[0]
	}
	if err := s.recipe.finish(ctx, begun, got, err); err != nil {
		return nil, err
	}
	for _, lease := range leases {
		lease.reportDrop()
	}
	return leases, nil
}

func (s *InterProcessSemaphoreV2) acquireOnce(ctx context.Context, contend contentionN) ([]*Lease, queue.Progress, error) {
	if ctx.Err() != nil {
		return nil, queue.Progress{}, retry.ContextError(ctx)
	}
	grants, at, err := contend(ctx)
	if err != nil {
		return nil, at, err
	}
	leases, err := s.recipe.joinAll(ctx, grants)
	return leases, at, err
}

func (s *InterProcessSemaphoreV2) refuseN(n int) error {
	switch limitErr := s.limit.err(); {
	case n < 1:
		return fmt.Errorf("the number of leases must be positive, is %d", n)
	case limitErr != nil:
		return limitErr
	case s.limit.count == nil && n > s.limit.fixed:
		return fmt.Errorf("%d leases are more than the limit of %d", n, s.limit.fixed)
	}
	return nil
}

// joinAll makes a lease on each grant, or none if one is lost already.
func (r *recipe) joinAll(ctx context.Context, grants []*queue.Grant) (leases []*Lease, err error) {
	for _, g := range grants {
		lease, joinErr := r.join(g)
		err = session.JoinErrors(err, joinErr)
		if joinErr == nil {
			leases = append(leases, lease)
		}
	}
	if err != nil {
		return nil, session.JoinErrors(err, releaseAll(ctx.Done(), leases...))
	}
	return leases, nil
}

// contend passes the gate and waits for n leases. It keeps the gate until it has all, because two contenders with a
// part each would deadlock. It leaves in the background.
func (s *InterProcessSemaphoreV2) contend(ctx context.Context, session framework.Session, n int) ([]*queue.Grant, queue.Progress, error) {
	gate, err := s.enterGate(ctx, session)
	if err != nil {
		return nil, queue.Progress{}, err
	}
	defer gate.Leave()
	if err := gate.WaitTurn(ctx); err != nil {
		return nil, gate.Progress, err
	}
	b := batch{semaphore: s, session: session, gate: gate}
	defer b.leave()
	for range n {
		if err := b.add(ctx); err != nil {
			return nil, b.progress(), err
		}
		if err := b.wait(ctx); err != nil {
			return nil, b.progress(), err
		}
	}
	grants, err := b.admit(ctx, b.wait)
	return grants, b.progress(), err
}

func (s *InterProcessSemaphoreV2) enterGate(ctx context.Context, session framework.Session) (*queue.Contender, error) {
	if !s.looked.Load() {
		children, err := session.List(ctx, s.recipe.id.path)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, err
		}
		for _, name := range children {
			if _, ok := s.gate.Markers.Parse(name); ok {
				return nil, fmt.Errorf("%w: there is %s", ErrOtherRecipe, name)
			}
		}
		s.looked.Store(true)
	}
	return s.gate.Enqueue(ctx, session)
}

func (s *InterProcessSemaphoreV2) leases(children []string) int {
	return s.recipe.queue.Markers.Count(children)
}

// Participants returns the leases that are held, and that for which a contender waits, in the order of their creation.
// Errors are as of [InterProcessMutex.Participants].
//
// Curator: InterProcessSemaphoreV2.getParticipantNodes().
func (s *InterProcessSemaphoreV2) Participants(ctx context.Context) ([]Participant, error) {
	limit := s.limit.now()
	holds := func(_ []queue.Node, i int) bool { return i < limit }
	return s.recipe.participants(ctx, func(queue.Node) bool { return true }, holds)
}

func (s *InterProcessSemaphoreV2) identities() []identity { return s.recipe.identities() }

// IsAcquiredInThisProcess reports whether this client holds a lease.
func (s *InterProcessSemaphoreV2) IsAcquiredInThisProcess() bool { return s.recipe.isHeld(anyGrant) }
