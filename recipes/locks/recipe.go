package locks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/lockopt"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/retry"
)

// A recipe is what the locks of one queue have in common.
type recipe struct {
	queue  *queue.Queue
	client *framework.Client
	id     identity
	path   string // as the user gave it
	opts   lockopt.Options
	waits  waitLog
	holds  holdLog
	trace  *reporter
	err    error // misuse: every call fails with it

	// For semaphores only.
	crowded func(leases []string) bool         // more than the limit
	onLimit func(changed func()) (stop func()) // has changed called after each change of a semaphore's limit
}

type kind struct {
	family string
	marker string // the marker of its own nodes
	below  string // their directory below the path
	leases bool   // leases count there, not locks
}

func newRecipe(client *framework.Client, path string, opts []Option, k kind) recipe {
	o := newOptions(opts)
	trace, _ := o.Trace.(Trace)
	r := recipe{client: client, path: path, id: identity{family: k.family}, trace: &reporter{trace, client}}
	dir := ""
	if client == nil {
		o.Problems = append(o.Problems, errors.New("client is nil"))
	} else if base, err := client.AbsolutePath(path); err != nil {
		o.Problems = append(o.Problems, err)
	} else {
		r.waits = waitLog{logger: client.Logger(), ownLease: r.ownLease}
		r.holds.logger = client.Logger()
		if base == "/zookeeper" || strings.HasPrefix(base, "/zookeeper/") {
			o.Problems = append(o.Problems, fmt.Errorf("%w %q: belongs to ZooKeeper itself", framework.ErrInvalidPath, path))
		}
		r.id.client, r.id.path = client.NonNamespaceView(), base
		dir = base
	}
	if k.below != "" {
		dir = queue.ChildPath(dir, k.below)
	}
	if o.Variant != nil {
		k.marker = o.Variant.Marker
		r.id.family += " " + k.marker
	}
	r.opts = o
	r.queue = queue.New(r.config(dir, k))
	r.err = session.JoinErrors(o.Problems...)
	return r
}

var errNotMade = errors.New("no constructor of this package made the lock")

// misuse is the error of every call, if there is one.
func (r *recipe) misuse() error {
	if r.queue == nil {
		return errNotMade
	}
	return r.err
}

func (r *recipe) identities() []identity { return []identity{r.id} }

type contention func(ctx context.Context) (*queue.Grant, queue.Progress, error)

// A reentry returns the lease of ctx to re-enter, or nil, or refuses.
type reentry func(ctx context.Context) (*Lease, error)

type outcome struct {
	lease     *Lease // one of those given; nil after an error
	at        queue.Progress
	reentered bool
}

func (r *recipe) acquire(ctx context.Context, reenter reentry, contend contention) (*Lease, error) {
	ctx, begun, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	got, err := r.acquireOnce(ctx, reenter, contend)
	if err := r.finish(ctx, begun, got, err); err != nil {
		return nil, err
	}
	got.lease.reportDrop()
	return got.lease, nil
}

func (r *recipe) try(ctx context.Context, reenter reentry, contend contention) (*Lease, error) {
	return limitTry(ctx, r, func(ctx context.Context) (*Lease, error) { return r.acquire(ctx, reenter, contend) })
}

func limitTry[T any](ctx context.Context, r *recipe, acquire func(context.Context) (T, error)) (T, error) {
	if r.misuse() != nil {
		return acquire(ctx)
	}
	return limited(ctx, &timeLimit{after: r.client.ConnectionTimeout(), try: true}, acquire)
}

func (r *recipe) begin(ctx context.Context) (traced context.Context, begun time.Time, err error) {
	if err := r.misuse(); err != nil {
		return ctx, begun, &AcquireError{Path: r.path, Err: err}
	}
	begun = time.Now()
	return r.trace.acquireStart(ctx, AcquireStart{Path: r.path}), begun, nil
}

func (r *recipe) finish(ctx context.Context, begun time.Time, got outcome, err error) error {
	at := got.at
	end := AcquireEnd{Path: r.path, Waited: time.Since(begun)}
	if err != nil {
		err = &AcquireError{
			Path: r.path, Node: at.Node, Predecessor: at.Predecessor, Ahead: at.Ahead, OwnClient: at.OwnClient,
			OwnLease: r.ownLease(at), Err: r.explainLimit(ctx, at, err),
		}
		end.Err = err
	} else {
		g := got.lease.grant
		end.Node, end.Token, end.FencingCount = g.Name, g.Token, g.Count
		end.HandOver, end.Reentered = at.HandOver, got.reentered
		end.Session, end.Zxid = g.Session.ID(), g.Session.LastZxid()
	}
	r.waits.ended(ctx, at, end)
	r.trace.acquireEnd(ctx, end)
	return err
}

func (r *recipe) released(released Released, err error) error {
	if err != nil {
		released.Err = &ReleaseError{Path: released.Path, Node: released.Node, Err: err}
	}
	r.holds.released(released)
	r.trace.released(released)
	return released.Err
}

// ownLease reports whether a contender waits or waited for its own client. Mutexes and read/write locks share a queue.
func (r *recipe) ownLease(at queue.Progress) bool {
	if !at.Waits || r.id.family == semaphoreFamily {
		return at.Waits && at.OwnHolds
	}
	id := r.id
	for _, id.family = range []string{mutexFamily, readWriteFamily} {
		isAhead := func(g *queue.Grant) bool { return g.Name == at.Predecessor || at.Node == "" && at.Ahead == 1 }
		if r.queue.Registry.AnyGrant(id, isAhead) {
			return true
		}
	}
	return false
}

func (r *recipe) acquireOnce(ctx context.Context, reenter reentry, contend contention) (outcome, error) {
	outer, err := reenter(ctx)
	switch {
	case err != nil:
		return outcome{}, err
	case ctx.Err() != nil && (outer == nil || timeLimitOf(ctx) == nil): // a limit bounds a wait, and a re-entry is none
		return outcome{}, retry.ContextError(ctx)
	case outer != nil:
		lease, err := outer.recipe.join(outer.grant)
		return outcome{lease: lease, reentered: true}, err
	}
	g, at, err := contend(ctx)
	if err != nil {
		return outcome{at: at}, err
	}
	lease, err := r.join(g)
	return outcome{lease: lease, at: at}, err
}

func (r *recipe) join(g *queue.Grant) (*Lease, error) {
	l := newLease(r, g)
	if err := g.Join(member{l.leaseState}); err != nil {
		return nil, err
	}
	if v := r.opts.Variant; v != nil && v.Ended != nil {
		l.follow(follower{end: func(error) { v.Ended() }})
	}
	return l, nil
}

// reenter returns the innermost lease on the lock that ctx owns. It refuses one that has ended, whose owner must
// neither re-enter nor queue again.
func (r *recipe) reenter(ctx context.Context) (lease *Lease, err error) {
	if lease = find(ctx, r.id, func(*Lease) bool { return true }); lease != nil {
		err = lease.Err()
	}
	return lease, err
}

// isHeld compares the time.
func (r *recipe) isHeld(accept func(*queue.Grant) bool) bool {
	return r.queue != nil && r.queue.Registry.AnyGrant(r.id, accept)
}

// What findLasting and isHeld accept.
func anyGrant(*queue.Grant) bool         { return true }
func sharedGrant(g *queue.Grant) bool    { return g.Queue.Shared }
func exclusiveGrant(g *queue.Grant) bool { return !g.Queue.Shared }
