package locks

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
)

// A contender is one acquire: it enters, waits for the node ahead, and is admitted or leaves. Whatever ends it, its node is
// removed unless a grant was made of it.
type contender struct {
	queue   *queue
	session *framework.Session
	node    string // absolute path
	me      node
	token   int64
	count   int64    // of local hand-overs before it: a nested read's are its writer's
	listing []string // came with the node; nil once it has been used
	entry   turn     // came with the node instead,
	entered bool     // if this is set
	line    *line    // nil of one that does not queue
	wake    chan struct{}
	own     *framework.Watch
	ahead   *framework.Watch // on the node that it waits for,
	watched string           // which is this one; empty if it is the directory
	grant   *grant           // set at admission
	place   place
}

// contend waits and is admitted. The contender is still to leave.
func (c *contender) contend(ctx context.Context) (*grant, place, error) {
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

// waitTurn blocks until the contender is admitted: by a listing, or by what its session knows already.
func (c *contender) waitTurn(ctx context.Context) error {
	t, err := c.turn(ctx)
	for err == nil && !t.admitted {
		t, err = c.await(ctx, t)
	}
	return err
}

// turn decides by what came with the contender's node, once: a listing, or the knowledge of the line. After that it asks for a
// listing. Either is later than the node, so a listing without it means that somebody removed it.
func (c *contender) turn(ctx context.Context) (t turn, err error) {
	children, entered := c.listing, c.entered
	c.listing, c.entered = nil, false
	switch {
	case children != nil:
	case entered:
		return c.stands(c.entry), nil
	default:
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
	line := parseNodes(children, c.queue.opts.extra)
	if c.me.number == math.MaxInt32 && slices.ContainsFunc(line, c.me.ties) {
		return turn{}, ErrNoMoreNumbers
	}
	return c.stands(turnOf(line, c.me)), nil
}

// stands notes where the contender stands. It may stand there for long, and what it keeps is no part of a listing, which would
// be kept with it.
func (c *contender) stands(t turn) turn {
	t.ahead, t.further = strings.Clone(t.ahead), strings.Clone(t.further)
	c.place.ahead, c.place.behind = t.ahead, t.behind
	c.place.ownClient = t.ahead != "" && own.has(c.queue.id.client, c.queue.child(t.ahead))
	return t
}

// known decides by what the line knows, if that is enough. It admits nobody whose own node is not known to be there.
func (c *contender) known() (turn, bool) {
	t, ok := c.line.turn(c.me)
	if ok && t.admitted && (c.own == nil || !c.session.View(c.own).Armed) {
		return turn{}, false
	}
	return t, ok
}

// admit makes a grant of the contender. If the session has ceased to be valid since the listing, there is none, and the
// listing must be asked for again.
func (c *contender) admit() error {
	g, err := newGrant(&grant{
		id: c.queue.id, path: c.queue.path, node: c.node, name: c.me.name, shared: c.queue.shared, token: c.token, count: c.count,
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

// await blocks until there is something new, and decides again. It waits for the nearest node that stands in the way, but only
// once that is the only one: until then for the next nearest, whose end says that the contender is most likely next. It can
// then learn that it is, while the last one before it still holds the lock; and that one's end admits it without another look.
//
// Behind a writer one has to look in any case, see line.turn.
func (c *contender) await(ctx context.Context, t turn) (turn, error) {
	c.watchOwn()
	c.queue.opts.trace.waiting(ctx, Waiting{
		Path: c.queue.path, Node: c.me.name, Ahead: t.ahead, Behind: t.behind, OwnClient: c.place.ownClient,
	})
	last := t.ahead
	if t.further != "" && !strings.Contains(t.ahead, writeMarker) {
		last = t.further
	}
	if err := c.outlast(ctx, last); err != nil {
		return turn{}, err
	}
	c.place.gone = time.Now()
	if t, ok := c.known(); ok && (t.admitted || t.behind == 1) {
		return c.stands(t), nil
	}
	if last != t.ahead {
		c.watchAhead(t.ahead) // goes out together with the question who else is there
	}
	return c.turn(ctx)
}

// outlast blocks until a node is gone. It watches that node, or, if it may not be watched, the directory. What has been seen to be
// gone is watched no more: if it is listed again, by a server that is behind, it is to be seen going again.
func (c *contender) outlast(ctx context.Context, name string) error {
	c.watchAhead(name)
	for byChildren := false; ; {
		view := c.session.View(c.ahead)
		switch {
		case c.removed():
			return errRequeue
		case view.Status == framework.StatusGone,
			byChildren && view.Status == framework.StatusPresent && !slices.Contains(view.Children, name):
			c.watch(nil, "")
			return nil
		case view.Status == framework.StatusRefused && byChildren:
			return view.Err
		case view.Status == framework.StatusRefused:
			byChildren = true
			c.watch(c.session.WatchChildren(c.queue.dir, c.signal), "")
			continue
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

// watchAhead watches a node before the contender's, instead of the one that was watched.
func (c *contender) watchAhead(name string) {
	if c.watched != name {
		c.watch(c.session.WatchData(c.queue.child(name), c.signal), name)
	}
}

func (c *contender) watch(w *framework.Watch, name string) {
	if c.ahead != nil {
		c.session.Unwatch(c.ahead)
	}
	c.ahead, c.watched = w, name
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
	if c.line != nil {
		c.line.leave()
	}
	if c.ahead != nil {
		c.session.Unwatch(c.ahead)
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
