//go:build linux

package godriver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/journaltest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/retry"
)

// ours is a client of this library.
type ours struct{ client *framework.Client }

func openOurs(ctx context.Context, order Order, tell func(event string)) (client, error) {
	timeout := time.Duration(order.Session) * time.Millisecond
	opts := []framework.Option{
		framework.WithSessionTimeout(timeout),
		framework.WithConnectionTimeout(min(timeout, 5*time.Second)),
		framework.WithRetryPolicy(retry.NTimes(cmp.Or(order.Retries, 40), 100*time.Millisecond)),
		framework.WithStateListener(func(now framework.StateChange) {
			switch now.State {
			case framework.StateSuspended:
				tell("suspended")
			case framework.StateLost:
				tell("lost")
			}
		}),
	}
	if order.Data != nil {
		opts = append(opts, framework.WithDefaultData([]byte(*order.Data)))
	}
	c, err := newClient(order, opts)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, order.openTimeout())
	defer cancel()
	if err := c.BlockUntilConnected(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &ours{client: c}, nil
}

// newClient makes a client, with a journal if one is ordered. The file stays open, since the client's callbacks may
// come after Close.
func newClient(order Order, opts []framework.Option) (*framework.Client, error) {
	if order.Journal == "" {
		return framework.NewClient(order.Connect, opts...)
	}
	file, err := os.Create(order.Journal)
	if err != nil {
		return nil, err
	}
	events := journaltest.Lines(file)
	trace := framework.WithTrace(framework.Trace{OrphanFound: events.OrphanFound(order.Client)})
	c, err := framework.NewClient(order.Connect, append(opts, trace)...)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	events.Attach(c, order.Client)
	return c, nil
}

func (o *ours) session() string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := o.client.Session(ctx)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(uint64(s.ID()))
}

func (o *ours) close() { _ = o.client.Close() }

func (o *ours) revoke(ctx context.Context, node string) error {
	return locks.AttemptRevoke(ctx, o.client, node)
}

func (o *ours) contender(order Order, tell func(*Answer)) (contender, error) {
	var opts []locks.Option
	if order.Data != nil {
		opts = append(opts, locks.WithLockData([]byte(*order.Data)))
	}
	c := &lockUser{revocable: order.Revocable, tell: tell}
	switch order.Recipe {
	case "mutex":
		m := locks.NewInterProcessMutex(o.client, order.Path, opts...)
		c.lock, c.queue, c.known = m, m.Participants, m
	case "retained": // a mutex whose node stays for a minute while no other client wants it
		m := locks.NewInterProcessMutex(o.client, order.Path, opts...).Retained(locks.RetainIdle(time.Minute))
		c.lock, c.queue, c.known = m, m.Participants, m
	case "persistentnode":
		return newRegistration(o.client, order), nil
	case "selector", "latch":
		return newElection(o.client, order), nil
	case "rw":
		rw := locks.NewInterProcessReadWriteLock(o.client, order.Path, opts...)
		c.lock, c.read, c.known = rw.WriteLock(), rw.ReadLock(), rw.WriteLock()
	case "semaphoremutex":
		m := locks.NewInterProcessSemaphoreMutex(o.client, order.Path, opts...)
		c.lock, c.queue = m, m.Participants
	case "multi":
		c.lock = locks.NewInterProcessMultiLockWithPaths(o.client, order.Paths, opts...)
	case "semaphore":
		return newPermits(o.client, order, opts)
	default:
		return nil, fmt.Errorf("unknown recipe %q", order.Recipe)
	}
	return c, nil
}

// A lockUser is what a thread is to Java: it has a lock, and re-enters what it holds.
type lockUser struct {
	lock  locks.Lock
	read  locks.Lock // a read/write lock's read side; lock is its write side
	queue func(context.Context) ([]locks.Participant, error)
	known interface {
		IsOwnedBy(ctx context.Context) bool
	}
	leases    []*locks.Lease // held, in the order of their acquisition
	revocable bool
	tell      func(*Answer)
}

func (u *lockUser) side(order Order) locks.Lock {
	if order.Side == "read" {
		return u.read
	}
	return u.lock
}

// context owns everything that the user holds.
func (u *lockUser) context(ctx context.Context) context.Context {
	for _, lease := range u.leases {
		ctx = lease.Context(ctx) //nolint:fatcontext // each owns one lease more
	}
	return ctx
}

func (u *lockUser) acquire(ctx context.Context, order Order) ([]string, int64, error) {
	acquire := u.side(order).Acquire
	if order.MS == 0 {
		acquire = u.side(order).TryAcquire
	}
	lease, err := acquire(u.context(ctx))
	if errors.Is(err, locks.ErrNotAcquired) {
		err = errTime
	}
	if err != nil {
		return nil, 0, err
	}
	u.leases = append(u.leases, lease)
	if u.revocable {
		go func() {
			select {
			case <-lease.RevocationRequested():
				now := Now()
				u.tell(&Answer{Event: "revoke", OK: true, Began: now, Ended: now})
			case <-lease.Done():
			}
		}()
	}
	return names(lease), monotonic(lease.ValidUntil()), nil
}

// release releases the newest lease of that side.
func (u *lockUser) release(order Order, leaving func(valid int64)) error {
	for i, lease := range slices.Backward(u.leases) {
		if u.read != nil && strings.Contains(lease.NodeName(), "__READ__") != (order.Side == "read") {
			continue
		}
		u.leases = slices.Delete(slices.Clone(u.leases), i, i+1)
		leaving(monotonic(lease.ValidUntil()))
		return lease.Release()
	}
	return errors.New("nothing is held")
}

func (u *lockUser) report(ctx context.Context, order Order, a *Answer) error {
	if order.Op == "explain" {
		return u.explain(a)
	}
	if u.known != nil {
		a.Owned = u.known.IsOwnedBy(u.context(ctx))
	}
	if l, ok := u.lock.(interface{ IsAcquiredInThisProcess() bool }); ok {
		a.Acquired = l.IsAcquiredInThisProcess()
	}
	if u.queue == nil {
		return nil
	}
	return participants(ctx, u.queue, a)
}

func participants(ctx context.Context, queue func(context.Context) ([]locks.Participant, error), a *Answer) error {
	all, err := queue(ctx)
	for _, p := range all {
		a.Nodes = append(a.Nodes, p.Path[strings.LastIndex(p.Path, "/")+1:])
	}
	return err
}

// permits is a user of a semaphore.
type permits struct {
	semaphore *locks.InterProcessSemaphoreV2
	count     *shared.SharedCount
	batches   [][]*locks.Lease // held, each of one acquire
}

func newPermits(client *framework.Client, order Order, opts []locks.Option) (contender, error) {
	if order.Count == "" {
		return &permits{semaphore: locks.NewInterProcessSemaphoreV2(client, order.Path, order.Max, opts...)}, nil
	}
	count := shared.NewSharedCount(client, order.Count, int32(order.Max))
	if err := count.Start(context.Background()); err != nil {
		return nil, err
	}
	return &permits{semaphore: locks.NewInterProcessSemaphoreV2WithCount(client, order.Path, count, opts...), count: count}, nil
}

func (p *permits) acquire(ctx context.Context, order Order) ([]string, int64, error) {
	acquire := p.semaphore.AcquireN
	if order.MS == 0 {
		acquire = p.semaphore.TryAcquireN
	}
	leases, err := acquire(ctx, order.N)
	if errors.Is(err, locks.ErrNotAcquired) {
		err = errTime
	}
	if err != nil {
		return nil, 0, err
	}
	p.batches = append(p.batches, leases)
	return names(leases...), monotonic(leases[0].ValidUntil()), nil
}

func (p *permits) release(_ Order, leaving func(valid int64)) error {
	if len(p.batches) == 0 {
		return errors.New("nothing is held")
	}
	last := p.batches[len(p.batches)-1]
	p.batches = p.batches[:len(p.batches)-1]
	leaving(monotonic(last[0].ValidUntil()))
	return locks.ReleaseAll(last...)
}

func (p *permits) report(ctx context.Context, order Order, a *Answer) error {
	switch order.Op {
	case "value":
		a.Value = int(p.count.Count())
		return nil
	case "setvalue":
		return p.count.SetCount(ctx, int32(order.Value))
	default:
		return participants(ctx, p.semaphore.Participants, a)
	}
}

func names(leases ...*locks.Lease) []string {
	var all []string
	for _, lease := range leases {
		if parts := lease.Parts(); parts != nil {
			all = append(all, names(parts...)...)
			continue
		}
		all = append(all, lease.NodeName())
	}
	return all
}

// monotonic is a time as Now would return it.
func monotonic(t time.Time) int64 { return Now() + int64(time.Until(t)) }
