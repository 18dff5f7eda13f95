package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// A queue is one directory in which contenders of a kind stand in line. It has no state: each acquire is a contender, and the
// line is at the servers.
type queue struct {
	id     identity
	client *framework.Client
	path   string // as the user gave it
	dir    string // absolute
	marker string // in the names of its contenders' nodes
	shared bool   // its contenders are readers
	opts   *options
}

// A place is where a contender stood last, for errors.
type place struct {
	node, ahead string
	behind      int
	ownClient   bool
	reentered   bool
	gone        time.Time     // when the node ahead was seen to be gone
	handOver    time.Duration // from then to the admission
}

// acquire waits for its turn, in one session after the other.
func (q *queue) acquire(ctx context.Context) ([]*grant, place, error) {
	if q.handsOver() {
		return q.acquireLocally(ctx)
	}
	return throughSessions(ctx, q.client, func(session *framework.Session) ([]*grant, place, error) {
		g, at, err := q.contend(ctx, session)
		return []*grant{g}, at, err
	})
}

// throughSessions lets somebody contend. If the session ends meanwhile, or his node is removed, he begins again at the tail.
// Only ctx, a closed client and errors that will not go away end it. A client that cannot connect at all is one of them at
// first; somebody who was in the queue before waits on.
func throughSessions(
	ctx context.Context, client *framework.Client, contend func(*framework.Session) ([]*grant, place, error),
) (gs []*grant, at place, err error) {
	for entered := false; ; {
		session, err := client.Session(ctx)
		var unreachable *framework.ConnectError
		switch {
		case err == nil:
		case entered && errors.As(err, &unreachable) && ctx.Err() == nil:
			continue
		default:
			return nil, at, err
		}
		gs, at, err = contend(session)
		if err == nil || !errors.Is(err, errRequeue) && !errors.Is(err, framework.ErrSessionLost) {
			return gs, at, err
		}
		entered = true
	}
}

// contend enters the line of one session, waits and is admitted.
func (q *queue) contend(ctx context.Context, session *framework.Session) (*grant, place, error) {
	c, err := q.enter(ctx, session)
	if err != nil {
		return nil, place{}, err
	}
	defer c.leave()
	return c.contend(ctx)
}

// try acquires without waiting for anybody. If the lock is taken it costs one read, and writes nothing.
func (q *queue) try(ctx context.Context) ([]*grant, place, error) {
	if q.handsOver() {
		return q.tryLocally(ctx)
	}
	return q.tryAtServers(ctx)
}

func (q *queue) tryAtServers(ctx context.Context) ([]*grant, place, error) {
	session, err := q.client.Session(ctx)
	if err != nil {
		return nil, place{}, err
	}
	children, err := q.list(ctx, session)
	if err != nil {
		return nil, place{}, err
	}
	if err := q.foreign(children); err != nil {
		return nil, place{}, err
	}
	if !q.free(children) {
		return nil, place{}, ErrNotAcquired
	}
	c, err := q.enter(ctx, session)
	if err != nil {
		return nil, place{}, err
	}
	defer c.leave()
	for c.grant == nil {
		t, err := c.turn(ctx)
		switch {
		case errors.Is(err, errRequeue), err == nil && !t.admitted:
			return nil, c.place, ErrNotAcquired
		case err != nil:
			return nil, c.place, err
		}
		if err := c.admit(); err != nil {
			return nil, c.place, err
		}
	}
	return []*grant{c.grant}, c.place, nil
}

// list returns the children of the queue's directory. One that is missing is empty.
func (q *queue) list(ctx context.Context, session *framework.Session) ([]string, error) {
	children, err := session.List(ctx, q.dir)
	if errors.Is(err, zk.ErrNoNode) {
		return []string{}, nil
	}
	return children, err
}

// foreign refuses a directory that belongs to a semaphore, whose contenders do not stand in this queue.
func (q *queue) foreign(children []string) error {
	if q.id.family != semaphoreFamily && slices.Contains(children, leaseDirectory) {
		return fmt.Errorf("%w: there is a semaphore's directory %s", ErrOtherRecipe, leaseDirectory)
	}
	return nil
}

// free reports whether a contender that came now would be admitted.
func (q *queue) free(children []string) bool {
	line := parseNodes(children, q.opts.extra)
	if len(line) == 0 {
		return true
	}
	// A number behind all others: counting relative to any of them gives the order, also when the counter has wrapped.
	last := slices.MaxFunc(line, func(a, b node) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return turnOf(line, node{shared: q.shared, number: last.number + 1}).admitted
}

func (q *queue) child(name string) string { return under(q.dir, name) }

// under returns the path of a child.
func under(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// enter makes a contender that stands in the line of its session, and its node. The contender must leave.
func (q *queue) enter(ctx context.Context, session *framework.Session) (*contender, error) {
	l := q.joinLine(session)
	entry, err := q.enterLine(ctx, l)
	if err != nil {
		l.leave()
		return nil, err
	}
	c := q.contender(session, entry.Path, entry.Stat.Czxid)
	c.line = l
	c.listing = entry.Children
	c.entry, c.entered = l.entry(c.me.name)
	return c, nil
}

// enterLine makes a node, and lists the queue if need be.
func (q *queue) enterLine(ctx context.Context, l *line) (framework.Entry, error) {
	session := l.key.session
	if l.hot() {
		return session.EnterUnlisted(ctx, q.dir, q.marker, q.opts.data)
	}
	select {
	case l.listing <- struct{}{}:
		defer func() { <-l.listing }()
	case <-session.Done():
		return framework.Entry{}, session.Err()
	case <-ctx.Done():
		return framework.Entry{}, context.Cause(ctx)
	}
	if l.hot() {
		return session.EnterUnlisted(ctx, q.dir, q.marker, q.opts.data)
	}
	return session.Enter(ctx, q.dir, q.marker, q.opts.data)
}

// contender makes a contender of a node that it has.
func (q *queue) contender(session *framework.Session, path string, token int64) *contender {
	name := path[len(q.child("")):]
	_, number, _ := cutNumber(name) // it was put there by the server, or by nest
	own.add(q.id.client, path)
	return &contender{
		queue: q, session: session, node: path, me: node{name: name, shared: q.shared, number: number},
		token: token, wake: make(chan struct{}, 1), place: place{node: name},
	}
}
