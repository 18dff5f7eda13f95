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
	listing []string // came with the node; nil once it has been used
	wake    chan struct{}
	own     *framework.Watch
	grant   *grant // set at admission
	place   place

	unfollow func() // ends following the directory; may be nil
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
