package locks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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
	listing []string // came with the node; nil once it has been used
	wake    chan struct{}
	own     *framework.Watch
	grant   *grant // set at admission
	place   place

	unfollow func() // ends following the directory; may be nil
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
	for c.grant == nil {
		if err := c.waitTurn(ctx); err != nil {
			return nil, c.place, err
		}
		if err := c.admit(); err != nil {
			return nil, c.place, err
		}
	}
	return c.grant, c.place, nil
}

// try acquires without waiting for anybody. If the lock is taken it costs one read, and writes nothing.
func (q *queue) try(ctx context.Context) ([]*grant, place, error) {
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

// line returns the nodes in the queue.
func (q *queue) line(children []string) []node {
	line := make([]node, 0, len(children))
	for _, name := range children {
		if n, ok := parseNode(name, q.opts.extra); ok {
			line = append(line, n)
		}
	}
	return line
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
	line := q.line(children)
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

func (q *queue) child(name string) string { return under(q.dir, name) }

// under returns the path of a child.
func under(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// enter makes a contender and its node. The contender must leave.
func (q *queue) enter(ctx context.Context, session *framework.Session) (*contender, error) {
	unfollow := session.Follow(q.dir)
	entry, err := session.Enter(ctx, q.dir, q.marker, q.opts.data)
	if err != nil {
		unfollow()
		return nil, err
	}
	c := q.contender(session, entry.Path, entry.Stat.Czxid)
	c.listing = entry.Children
	c.unfollow = unfollow
	return c, nil
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

// waitTurn blocks until the contender is admitted: by a listing, or by the end of the last one before it.
func (c *contender) waitTurn(ctx context.Context) error {
	for {
		t, err := c.turn(ctx)
		if err != nil || t.admitted {
			return err
		}
		admitted, err := c.await(ctx, t)
		if err != nil || admitted {
			return err
		}
	}
}

// turn decides by a listing: the one that came with the contender's node, once, and a new one after that. Either is later than
// the node, so a listing without it means that somebody removed it.
func (c *contender) turn(ctx context.Context) (t turn, err error) {
	children := c.listing
	c.listing = nil
	if children == nil {
		if children, err = c.queue.list(ctx, c.session); err != nil {
			return turn{}, err
		}
	}
	if !slices.Contains(children, c.me.name) {
		return turn{}, errRequeue
	}
	if err := c.queue.foreign(children); err != nil {
		return turn{}, err
	}
	line := c.queue.line(children)
	if c.me.number == math.MaxInt32 && slices.ContainsFunc(line, c.me.ties) {
		return turn{}, ErrNoMoreNumbers
	}
	t = c.queue.rule(line, c.me)
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
	if !c.place.gone.IsZero() {
		c.place.handOver = time.Since(c.place.gone)
	}
	return nil
}

// await blocks until the node ahead is gone. It watches that node and its own, and nothing else; but if the node ahead may not be
// watched, the directory. It reports whether the contender is admitted by the end of that node alone, see succeeds.
func (c *contender) await(ctx context.Context, t turn) (admitted bool, err error) {
	c.watchOwn()
	ahead := c.session.WatchData(c.queue.child(t.ahead), c.signal)
	defer func() { c.session.Unwatch(ahead) }()
	c.queue.opts.trace.waiting(ctx, Waiting{
		Path: c.queue.path, Node: c.me.name, Ahead: t.ahead, Behind: t.behind, OwnClient: c.place.ownClient,
	})
	for byChildren := false; ; {
		view := c.session.View(ahead)
		switch {
		case c.removed():
			return false, errRequeue
		case view.Status == framework.StatusGone,
			byChildren && view.Status == framework.StatusPresent && !slices.Contains(view.Children, t.ahead):
			c.place.gone = time.Now()
			return c.succeeds(t), nil
		case view.Status == framework.StatusRefused && byChildren:
			return false, view.Err
		case view.Status == framework.StatusRefused:
			byChildren = true
			c.session.Unwatch(ahead)
			ahead = c.session.WatchChildren(c.queue.dir, c.signal)
			continue
		}
		select {
		case <-c.wake:
		case <-c.session.Done():
			return false, c.session.Err()
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// succeeds reports whether the news that the node ahead is gone admits the contender, without another listing: the newest listing
// of the session that has its node, whoever asked for it, shows nobody else before it. Nobody can have come since, as numbers
// grow. Its own node must be known to be there: its watch is set and has not fired, so that a removal by hand before the other
// node's end would have been told before that.
//
// Not so behind a writer: its owner may have taken the read lock as well, with a node that has the writer's number, before it
// left. That does not bother a reader; everybody else lists again.
func (c *contender) succeeds(t turn) bool {
	if strings.Contains(t.ahead, writeMarker) && !c.me.shared {
		return false
	}
	listing := c.session.Newest(c.queue.dir)
	if !slices.Contains(listing, c.me.name) {
		return false
	}
	others := slices.DeleteFunc(c.queue.line(listing), func(n node) bool { return n.name == t.ahead })
	return c.queue.rule(others, c.me).admitted && c.session.View(c.own).Armed
}

// watchOwn keeps an eye on the contender's own node from now on.
func (c *contender) watchOwn() {
	if c.own == nil {
		c.own = c.session.WatchData(c.node, c.signal)
	}
}

// removed reports whether somebody removed the contender's node, as far as its watch has told.
func (c *contender) removed() bool {
	return c.own != nil && c.session.View(c.own).Status == framework.StatusGone
}

func (c *contender) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// leave removes the contender's node, unless a grant was made of it.
func (c *contender) leave() {
	if c.unfollow != nil {
		c.unfollow()
	}
	if c.grant != nil {
		return
	}
	own.remove(c.node)
	c.session.Remove(c.node)
	if c.own != nil {
		c.session.Unwatch(c.own)
	}
}
