package queue

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// A Queue is a directory in which contenders of a kind wait.
type Queue struct {
	Config     Config
	Shared     bool // its contenders are readers
	Markers    Markers
	markersKey string
	Registry   *Registry
}

// New returns a queue. It does no I/O.
func New(cfg Config) *Queue {
	if cfg.Foreign == nil {
		cfg.Foreign = func([]string) error { return nil }
	}
	q := &Queue{Config: cfg, Shared: cfg.Counts[cfg.Marker], Markers: newMarkers(cfg.Counts), Registry: RegistryOf(cfg.Source)}
	q.markersKey = q.Markers.String()
	return q
}

// For returns the queue of the same nodes for another lock, which has events of its own.
func (q *Queue) For(lock any, events Events) *Queue {
	other := *q
	other.Config.Lock, other.Config.Events = lock, events
	return &other
}

// A Progress is how far a contender has got.
type Progress struct {
	Node        string // empty if none
	Predecessor string // name of the nearest node ahead
	Ahead       int
	OwnClient   bool // the predecessor is of the same client
	Waits       bool // no try: it waits or has waited, in any session
	WaitsLong   bool // Config.LongWait was called
	Local       bool // it waits or has waited in this process, without a node
	OwnHolds    bool // where several are let in: the client holds all that it waits for
	gone        time.Time
	HandOver    time.Duration // from the news of the predecessor's end to the admission
}

var (
	// ErrTaken ends a try: another contender holds the lock or is ahead.
	ErrTaken = errors.New("locks: not acquired")
	// ErrRemoved is the reason of a loss: the node was deleted by hand.
	ErrRemoved error = removedByHand{}
	// ErrCounterExhausted says that the directory's counter has ended.
	ErrCounterExhausted = errors.New("locks: the counter of the lock's directory is used up; it starts again when the directory has been left alone")
)

// Acquire waits for its turn, in one session after the other. See AcrossSessions.
func (q *Queue) Acquire(ctx context.Context) (*Grant, Progress, error) {
	return AcrossSessions(ctx, q.Config.Source, func(s framework.Session) (*Grant, Progress, error) {
		c, err := q.Enqueue(ctx, s)
		if err != nil {
			return nil, Progress{}, err
		}
		defer c.Leave()
		return c.Contend(ctx)
	})
}

// AcrossSessions contends in the connected session, and again, at the tail, after errors that session.ShouldStartOver
// accepts. Sessions reports the end of ctx, because it knows whether there was a connection.
func AcrossSessions[T any](
	ctx context.Context, source Source, contend func(framework.Session) (T, Progress, error),
) (result T, at Progress, err error) {
	for s, err := range source.Sessions(ctx) {
		if err != nil {
			return result, at, err
		}
		before := at
		result, at, err = contend(s)
		at.Waits, at.WaitsLong = at.Waits || before.Waits, at.WaitsLong || before.WaitsLong
		if err == nil || !session.ShouldStartOver(context.WithoutCancel(ctx), err) {
			return result, at, err
		}
	}
	return result, at, err // Sessions ends with an error
}

// Try acquires without waiting for others, in the next session if one ends. A taken lock costs one read and no write.
func (q *Queue) Try(ctx context.Context) (*Grant, Progress, error) {
	if err := q.refused(); err != nil {
		return nil, Progress{}, err
	}
	return AcrossSessions(ctx, q.Config.Source, func(s framework.Session) (*Grant, Progress, error) {
		return q.tryInSession(ctx, s)
	})
}

func (q *Queue) tryInSession(ctx context.Context, s framework.Session) (*Grant, Progress, error) {
	children, err := q.List(ctx, s)
	if err != nil {
		return nil, Progress{}, err
	}
	if err := q.Config.Foreign(children); err != nil {
		return nil, Progress{}, err
	}
	if !q.free(children) {
		return nil, Progress{}, ErrTaken
	}
	c, err := q.Enqueue(ctx, s)
	if err != nil {
		return nil, Progress{}, err
	}
	defer c.Leave()
	for c.Grant == nil {
		t, err := c.NextDecision(ctx)
		switch {
		case err != nil:
			return nil, c.Progress, orTaken(err)
		case !t.Admitted:
			return nil, c.Progress, ErrTaken
		}
		if err := c.Admit(); err != nil {
			return nil, c.Progress, orTaken(err)
		}
	}
	return c.Grant, c.Progress, nil
}

// orTaken is ErrTaken instead of err if the node of a try was removed.
func orTaken(err error) error {
	if errors.Is(err, session.ErrNodeDeleted) {
		return ErrTaken
	}
	return err
}

// List returns the directory's children, if it exists.
func (q *Queue) List(ctx context.Context, s framework.Session) ([]string, error) {
	children, err := s.List(ctx, q.Config.Dir)
	if errors.Is(err, zk.ErrNoNode) {
		return []string{}, nil
	}
	return children, err
}

// ReportWait calls Config.Waiting.
func (q *Queue) ReportWait(ctx context.Context, at Progress) {
	if q.Config.Waiting != nil {
		q.Config.Waiting(ctx, at)
	}
}

// CountWaiting counts the client's contenders that wait with a node.
func (q *Queue) CountWaiting() int { return q.Registry.waiting(q.Config.Dir, q.Config.Marker) }

// free reports whether a contender behind all these nodes would be admitted.
func (q *Queue) free(children []string) bool {
	return !slices.ContainsFunc(q.Markers.ParseAll(children), func(n Node) bool { return !q.Shared || !n.Shared })
}

// Child returns the path of a child of the directory.
func (q *Queue) Child(name string) string { return ChildPath(q.Config.Dir, name) }

// ChildPath returns the path of a child.
func ChildPath(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// Enqueue makes a contender, which must leave, and its node. At the end of the directory's counter it removes the node,
// and returns ErrCounterExhausted without asking a server for a minute.
func (q *Queue) Enqueue(ctx context.Context, s framework.Session) (*Contender, error) {
	if err := q.refused(); err != nil {
		return nil, err
	}
	v := q.joinView(s)
	entered := false
	defer func() {
		if !entered { // also if the ACL provider has panicked
			v.leave()
		}
	}()
	entry, err := q.create(ctx, v)
	if err != nil {
		return nil, err
	}
	entered = true
	c := q.contender(s, entry.Path, Fence{Token: entry.Stat.Czxid})
	c.view = v
	c.public = entry.Public
	c.listing = entry.Children
	c.decided, c.known = v.entryDecision(c.Me.Name)
	if Exhausted(c.Me.Name) {
		c.Leave()
		return nil, q.refuse()
	}
	return c, nil
}

// CreateNode makes a contender, which must leave, and its node for a recipe that decides by itself. News wakes w.
func (q *Queue) CreateNode(ctx context.Context, s framework.Session, w session.Waiter) (c *Contender, listing []string, err error) {
	entry, err := s.CreateProtected(ctx, q.Config.Dir, q.Config.Marker, q.Config.Data)
	if err != nil {
		return nil, nil, err
	}
	c = q.contender(s, entry.Path, Fence{Token: entry.Stat.Czxid})
	c.Waiter = w
	return c, entry.Children, nil
}

func (q *Queue) contender(s framework.Session, path string, fence Fence) *Contender {
	name := path[len(q.Child("")):]
	_, number, _ := cutNumber(name) // by the server, or Downgrade
	q.Registry.addNode(path, s.ID())
	return &Contender{
		queue: q, Session: s, node: path, Me: Node{Name: name, Shared: q.Shared, number: number},
		fence: fence, Waiter: session.NewWaiter(), Progress: Progress{Node: name},
	}
}

// A removal is an ErrRemoved that knows whether the node went with its session.
type removal struct {
	removedByHand
	lost session.NodeLoss
}

func (removal) Is(target error) bool { return target == ErrRemoved }

// Explain is for session.Explain.
func (r removal) Explain() session.Explanation { return r.lost.Explain() }

// OnSettled calls fn, perhaps before it returns, when the explanation of err is final: for a node that is gone, when
// the session knows whether it has ended as well. fn must not block.
func OnSettled(err error, fn func()) {
	if r := (removal{}); errors.As(err, &r) {
		r.lost.OnSettled(fn)
		return
	}
	fn()
}

// removedByHand deliberately does not match session.ErrNodeDeleted, which would make a wait start over.
type removedByHand struct{}

func (removedByHand) Error() string { return "locks: node removed by hand" }

// Explain is for session.Explain.
func (removedByHand) Explain() session.Explanation { return session.Explain(session.ErrNodeDeleted) }
