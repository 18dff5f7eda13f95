package locks

import (
	"context"
	"errors"
	"slices"

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
	rule   rule
	opts   *options
}

// A contender is one acquire: it enters, waits for the node ahead, and is admitted or leaves. Whatever ends it, its node is
// removed unless a grant was made of it.
type contender struct {
	queue   *queue
	session *framework.Session
	node    string // absolute path
	me      node
	token   int64
	wake    chan struct{}
	own     *framework.Watch
	grant   *grant // set at admission
	place   place
}

// A place is where a contender stood last, for errors.
type place struct {
	node, ahead string
	behind      int
	ownClient   bool
}

// acquire waits for its turn. The lock's session may end while it waits: it then enters again, at the tail. Only ctx, a closed
// client and errors that will not go away end it. A client that cannot connect at all is one of them at first; somebody who
// was in the queue before waits on.
func (q *queue) acquire(ctx context.Context) (g *grant, at place, err error) {
	for entered := false; ; {
		session, err := q.client.Session(ctx)
		var unreachable *framework.ConnectError
		switch {
		case err == nil:
		case entered && errors.As(err, &unreachable) && ctx.Err() == nil:
			continue
		default:
			return nil, at, err
		}
		g, at, err = q.contend(ctx, session)
		if err == nil || !errors.Is(err, errRequeue) && !errors.Is(err, framework.ErrSessionLost) {
			return g, at, err
		}
		entered = true
	}
}

// contend enters the line of one session and waits.
func (q *queue) contend(ctx context.Context, session *framework.Session) (*grant, place, error) {
	entry, err := session.Enter(ctx, q.dir, q.marker, q.opts.data)
	if err != nil {
		return nil, place{}, err
	}
	c := newContender(q, session, entry)
	defer c.leave()
	children := entry.Children
	for {
		if children == nil {
			if children, err = q.list(ctx, session); err != nil {
				return nil, c.place, err
			}
		}
		t, err := c.turn(children)
		if err != nil {
			return nil, c.place, err
		}
		if t.admitted {
			err = c.admit()
		} else {
			err = c.await(ctx, t)
		}
		if err != nil {
			return nil, c.place, err
		}
		if c.grant != nil {
			return c.grant, c.place, nil
		}
		children = nil
	}
}

// try acquires without waiting for anybody. If the lock is taken it costs one read, and writes nothing.
func (q *queue) try(ctx context.Context) (*grant, place, error) {
	session, err := q.client.Session(ctx)
	if err != nil {
		return nil, place{}, err
	}
	children, err := q.list(ctx, session)
	if err != nil {
		return nil, place{}, err
	}
	if !q.free(session, children) {
		return nil, place{}, ErrNotAcquired
	}
	entry, err := session.Enter(ctx, q.dir, q.marker, q.opts.data)
	if err != nil {
		return nil, place{}, err
	}
	c := newContender(q, session, entry)
	defer c.leave()
	children = entry.Children
	for c.grant == nil {
		if children == nil {
			if children, err = q.list(ctx, session); err != nil {
				return nil, place{}, err
			}
		}
		t, err := c.turn(children)
		switch {
		case errors.Is(err, errRequeue), err == nil && !t.admitted:
			return nil, c.place, ErrNotAcquired
		case err != nil:
			return nil, place{}, err
		}
		if err := c.admit(); err != nil {
			return nil, place{}, err
		}
		children = nil
	}
	return c.grant, c.place, nil
}

// list returns the children of the queue's directory. One that is missing is empty.
func (q *queue) list(ctx context.Context, session *framework.Session) ([]string, error) {
	children, err := session.List(ctx, q.dir)
	if errors.Is(err, zk.ErrNoNode) {
		return []string{}, nil
	}
	return children, err
}

// line returns the nodes in the queue. Nodes that this session has been asked to remove are left out: their holds have ended,
// and the server will hear of it before it hears of anything that this session asks for later.
func (q *queue) line(session *framework.Session, children []string) []node {
	line := make([]node, 0, len(children))
	for _, name := range children {
		n, ok := parseNode(name, q.opts.extra)
		if ok && !session.Leaving(q.child(name)) {
			line = append(line, n)
		}
	}
	return line
}

// free reports whether a contender that came now would be admitted.
func (q *queue) free(session *framework.Session, children []string) bool {
	line := q.line(session, children)
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
	return q.rule(line, node{number: last.number + 1}).admitted
}

func (q *queue) child(name string) string {
	if q.dir == "/" {
		return "/" + name
	}
	return q.dir + "/" + name
}

func newContender(q *queue, session *framework.Session, entry framework.Entry) *contender {
	name := entry.Path[len(q.child("")):]
	me, _ := parseNode(name, nil) // the server has numbered what we named
	c := &contender{
		queue: q, session: session, node: entry.Path, me: me, token: entry.Stat.Czxid,
		wake: make(chan struct{}, 1), place: place{node: name},
	}
	own.add(q.id.client, entry.Path)
	return c
}

// turn decides by a listing. It is later than the contender's node, so a listing without it means that somebody removed it.
func (c *contender) turn(children []string) (turn, error) {
	if !slices.Contains(children, c.me.name) {
		return turn{}, errRequeue
	}
	line := c.queue.line(c.session, children)
	t := c.queue.rule(line, c.me)
	c.place.ahead, c.place.behind = t.ahead, t.behind
	c.place.ownClient = t.ahead != "" && own.has(c.queue.id.client, c.queue.child(t.ahead))
	return t, nil
}

// admit makes a grant of the contender. If the session has ceased to be valid since the listing, there is none, and the
// listing must be asked for again.
func (c *contender) admit() error {
	g, err := newGrant(&grant{
		id: c.queue.id, path: c.queue.path, node: c.node, name: c.me.name, shared: c.queue.shared, token: c.token,
		session: c.session, client: c.queue.client, trace: &c.queue.opts.trace,
	})
	if errors.Is(err, framework.ErrLapsed) {
		return nil
	}
	if err != nil {
		return err
	}
	g.watch()
	if c.own != nil {
		c.session.Unwatch(c.own) // the grant has a subscription of its own, on the same watch
		c.own = nil
	}
	if g.err() != nil {
		return errRequeue // removed between the listing and now
	}
	c.grant = g
	return nil
}

// await blocks until the node ahead is gone. It watches that node and its own, and nothing else.
func (c *contender) await(ctx context.Context, t turn) error {
	if c.own == nil {
		c.own = c.session.WatchData(c.node, c.signal)
	}
	ahead := c.session.WatchData(c.queue.child(t.ahead), c.signal)
	defer c.session.Unwatch(ahead)
	c.queue.opts.trace.waiting(ctx, Waiting{
		Path: c.queue.path, Node: c.me.name, Ahead: t.ahead, Behind: t.behind, OwnClient: c.place.ownClient,
	})
	for {
		switch view := c.session.View(ahead); {
		case c.session.View(c.own).Status == framework.StatusGone:
			return errRequeue
		case view.Status == framework.StatusGone:
			return nil
		case view.Status == framework.StatusRefused:
			return view.Err
		}
		select {
		case <-c.wake:
		case <-c.session.Done():
			return c.session.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *contender) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// leave removes the contender's node, unless a grant was made of it.
func (c *contender) leave() {
	if c.grant != nil {
		return
	}
	own.remove(c.node)
	c.session.Remove(c.node)
	if c.own != nil {
		c.session.Unwatch(c.own)
	}
}
