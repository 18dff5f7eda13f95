package queue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/retry"
)

// A Contender is one acquire with its node. Its fields belong to the goroutine of the acquire.
type Contender struct {
	queue    *Queue
	Session  framework.Session
	Me       Node
	Grant    *Grant // set at admission
	Progress Progress

	// Waiter wakes the contender. Contenders that are waited for together share one.
	Waiter session.Waiter
	// GiveUp, if not nil, reports that a waiting try has no chance left.
	GiveUp func() bool

	node   string // absolute path
	fence  Fence  // a downgraded reader has its writer's
	public bool   // anyone may read the node

	listing []string // came with the node; nil once used
	decided Decision // at the node's creation, if known
	known   bool
	view    *sharedView // nil if it does not queue

	selfWatch   session.Watch // nil before it waits
	stopRenewal func()        // nil before it waits
	aheadWatch  session.Watch // on watched, or on the directory
	watched     string        // a node ahead; empty for the directory
	alsoWatched []aheadNode   // further nodes ahead: see ahead.go

	longWait *LongWait // nil before it waits
}

// Contend blocks until the contender has a grant. Leave must follow.
func (c *Contender) Contend(ctx context.Context) (*Grant, Progress, error) {
	for c.Grant == nil {
		if err := c.WaitTurn(ctx); err != nil {
			return nil, c.Progress, err
		}
		if err := c.Admit(); err != nil {
			return nil, c.Progress, err
		}
	}
	return c.Grant, c.Progress, nil
}

// WaitTurn blocks until a listing or the view admits the contender.
func (c *Contender) WaitTurn(ctx context.Context) error {
	var pace retry.Pace
	d, err := c.NextDecision(ctx)
	for err == nil && !d.Admitted {
		awaited, began := d.Awaited(), time.Now()
		if d, err = c.Await(ctx, d); err == nil && !d.Admitted && d.Awaited() == awaited {
			// Gone, and listed still: the server is behind, or worse.
			err = pace.Wait(ctx, time.Since(began))
		}
	}
	return err
}

// NextDecision uses once the listing or the decision that came with the node, and then a new listing (rule 2).
func (c *Contender) NextDecision(ctx context.Context) (d Decision, err error) {
	children, known := c.listing, c.known
	c.listing, c.known = nil, false
	switch {
	case children != nil:
	case known:
		return c.note(c.decided), nil
	default:
		if children, err = c.queue.List(ctx, c.Session); err != nil {
			return Decision{}, err
		}
	}
	d, nodes, listed := c.queue.Markers.DecideByListing(children, c.Me)
	if !listed {
		return Decision{}, session.ErrNodeDeleted
	}
	if err := c.queue.Config.Foreign(children); err != nil {
		return Decision{}, err
	}
	c.queue.Registry.stepOfDecision(steps.ByListing, c.queue.viewKey(c.Session), nodes, c.Me, d)
	return c.note(d), nil
}

// note records the contender's progress. It copies names, which would keep the listing in memory.
func (c *Contender) note(d Decision) Decision {
	d.Predecessor, d.NextAhead, d.First = strings.Clone(d.Predecessor), strings.Clone(d.NextAhead), strings.Clone(d.First)
	c.Progress.Predecessor, c.Progress.Ahead = d.Predecessor, d.Ahead
	c.Progress.OwnClient = d.Predecessor != "" && c.queue.Registry.isOurs(c.queue.Child(d.Predecessor))
	return d
}

// decideByView decides by the view if that is enough.
func (c *Contender) decideByView() (d Decision, enough bool) {
	d, known := c.view.decision(c.Me)
	return d, known && (d.Suffices(c.selfWatch != nil && c.selfWatch.View().Current) || c.watchesAll(d))
}

// Admit makes the grant. If the session is not valid now, there is no grant and no error: list again.
func (c *Contender) Admit() error {
	g := &Grant{
		Queue: c.queue, Node: c.node, Name: c.Me.Name, Fence: c.fence, Session: c.Session, waited: c.selfWatch != nil,
	}
	err := g.Begin()
	if errors.Is(err, framework.ErrNotRenewed) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.Removed() { // the grant's own watch asks the server again, and hears of it later
		g.Drop()
	}
	if c.selfWatch != nil {
		c.selfWatch.Stop() // the grant has subscribed to it too
		c.selfWatch = nil
	}
	g.Step(steps.Admitted)
	if g.Err() != nil {
		return session.ErrNodeDeleted // removed since the listing
	}
	c.Grant = g
	if !c.Progress.gone.IsZero() {
		c.Progress.HandOver = time.Since(c.Progress.gone)
	}
	return nil
}

// Await blocks until a node ahead is gone, and decides again. Which node: recipes/locks/DESIGN.md.
func (c *Contender) Await(ctx context.Context, d Decision) (Decision, error) {
	c.watchTogether(d)
	c.StartWaiting()
	c.queue.ReportWait(ctx, c.Progress)
	last := d.Awaited()
	if err := c.outlast(ctx, last); err != nil {
		return Decision{}, err
	}
	c.Progress.gone = time.Now()
	if d, enough := c.decideByView(); enough {
		return c.note(d), nil
	}
	if last != d.Predecessor {
		c.watchAhead(d.Predecessor) // goes out together with the listing
	}
	return c.NextDecision(ctx)
}

// outlast blocks until a node is gone, and watches the directory if it may not watch the node. At the end it stops the
// watch, because a server that is behind may list the node again.
func (c *Contender) outlast(ctx context.Context, name string) error {
	c.watchAhead(name)
	for byChildren := false; ; {
		view := c.aheadWatch.View()
		c.noteRead(view)
		switch {
		case c.Removed():
			return session.ErrNodeDeleted
		case c.GiveUp != nil && c.GiveUp():
			return ErrTaken
		case view.Status == framework.StatusGone,
			byChildren && view.Status == framework.StatusPresent && !slices.Contains(view.Children, name):
			c.watch(nil, "")
			return nil
		case view.Status == framework.StatusFailed && byChildren:
			return view.Err
		case view.Status == framework.StatusFailed:
			byChildren = true
			c.watch(c.Session.WatchChildren(c.queue.Config.Dir, c.Waiter.Signal), "")
			continue
		}
		if err := c.Waiter.Wait(ctx, c.Session, nil); err != nil {
			return err
		}
		c.ReportLongWait(ctx, c.Progress)
	}
}

func (c *Contender) watchAhead(name string) {
	if c.watched != name {
		c.watch(c.watchNode(c.queue.Child(name), c.Waiter.Signal), name)
	}
}

func (c *Contender) watch(w session.Watch, name string) {
	stopWatch(c.aheadWatch)
	c.aheadWatch, c.watched = w, name
}

func stopWatch(w session.Watch) {
	if w != nil {
		w.Stop()
	}
}

// WatchOwn watches the contender's own node, and keeps the session valid for an admission at any moment.
func (c *Contender) WatchOwn() {
	if c.stopRenewal == nil {
		c.stopRenewal = c.Session.StartRenewal()
	}
	if c.selfWatch == nil {
		c.selfWatch = c.watchNode(c.node, c.Waiter.Signal)
	}
}

// Removed reports whether the contender has heard of its node's removal.
func (c *Contender) Removed() bool {
	return c.selfWatch != nil && c.selfWatch.View().Status == framework.StatusGone
}

// Leave removes the contender's node, unless it has a grant.
func (c *Contender) Leave() {
	c.longWait.Stop()
	if c.view != nil {
		c.view.leave()
	}
	c.readUnheard()
	stopWatch(c.aheadWatch)
	for _, n := range c.alsoWatched {
		n.watch.Stop()
	}
	if c.stopRenewal != nil {
		c.stopRenewal()
	}
	if c.Grant != nil {
		return
	}
	c.queue.Registry.removeNode(c.node, c.Session.ID())
	// Remove before Stop: the deletion takes the server's watch with it.
	c.Session.Remove(c.node)
	stopWatch(c.selfWatch)
}

// Continue lets another acquire go on with the contender, in a queue of the same nodes.
func (c *Contender) Continue(q *Queue, l *LongWait) {
	c.queue, c.longWait, c.Progress.WaitsLong = q, l, false
}
