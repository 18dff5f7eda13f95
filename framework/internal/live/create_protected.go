package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

func (m *maker) createProtected(ctx context.Context, dir, name string, data []byte, list bool) (session.CreatedNode, error) {
	return m.createForSure(ctx, &Creation{
		Dir: dir, Name: name, Data: m.orDefault(data), Mode: session.EphemeralSequential, ACL: m.cfg.ACL(join(dir, name)), list: list,
	})
}

// createIfExists is [Session.CreateIfExists].
func (m *maker) createIfExists(ctx context.Context, guard, dir, name string, data []byte) (string, error) {
	exists := transport.CheckOp(guard, -1)
	entry, err := m.createForSure(ctx, &Creation{
		Dir: dir, Name: name, Data: m.orDefault(data), Mode: session.Ephemeral, ACL: m.cfg.ACL(join(dir, name)), first: &exists,
	})
	return entry.Path, err
}

// createForSure tries until the server has answered, and leaves the tries whose fate is unknown to the session.
func (m *maker) createForSure(ctx context.Context, c *Creation) (entry session.CreatedNode, err error) {
	defer func() {
		m.orphans.sweep(c.Backlog())
		// A try may have been executed between the search for it and the next try.
		m.orphans.listed(c.Dir, entry.Children)
		entry.Public = slices.ContainsFunc(c.ACL, func(a zk.ACL) bool { // anyone may read
			return a.Scheme == "world" && a.ID == "anyone" && a.Perms&zk.PermRead != 0
		})
	}()
	var pace retry.Pace
	for {
		began := time.Now()
		if err := m.waitAttached(ctx); err != nil {
			return session.CreatedNode{}, err
		}
		if entry, err = m.createOrFind(ctx, c); err == nil {
			return entry, nil
		}
		missing := c.first == nil && errors.Is(err, zk.ErrNoNode)
		// Reconnections are spaced, but the session may not have noticed yet that its connection is gone, and a server
		// that cannot answer just then keeps it.
		if !missing && !errors.Is(err, session.ErrConnectionLost) && !passing(err) {
			return entry, err
		}
		_ = pace.WaitOrDone(ctx, time.Since(began), m.done) // waitAttached reports the end
		if missing && ctx.Err() == nil {
			// Servers remove empty containers at any time. So the node is created right after its parent, without a
			// pause.
			if err = m.makeParents(ctx, c.Dir, session.Container); err != nil && !errors.Is(err, zk.ErrNoNode) && !Retryable(err) {
				return session.CreatedNode{}, err
			}
		}
	}
}

// createOrFind is one try to create c. It first finds out whether an earlier try whose answer was lost, which c
// remembers, was executed. After a failure that is retryable it can be tried again, in any session. In the end
// [Creation.Backlog] must be looked for.
func (m *maker) createOrFind(ctx context.Context, c *Creation) (session.CreatedNode, error) {
	if len(c.lost) > 0 {
		entry, err := m.find(ctx, c)
		if err != nil || entry.Path != "" {
			return entry, err
		}
	}
	c.try = protected(c.Name)
	entry, lost, err := m.tryCreate(ctx, c)
	if err == nil && entry.Stat == nil && c.first == nil {
		entry, err = m.withStat(ctx, c, entry)
		lost = err != nil && Retryable(err)
	}
	if lost {
		c.lost = append(c.lost, lostTry{name: c.try, session: m.sessionID()})
	}
	return entry, err
}

// tryCreate sends the create, and the listing with it, and waits for the answers. If lost is set, nothing is known of
// the node; after any other error there is none, or it is being removed.
func (m *maker) tryCreate(ctx context.Context, c *Creation) (entry session.CreatedNode, lost bool, err error) {
	a := &attempt{maker: m, creation: c, try: lostTry{name: c.try, session: m.sessionID()}}
	calls := a.calls()
	if err := m.beSure(ctx, calls[0]); err != nil {
		return session.CreatedNode{}, false, err
	}
	err = m.call(ctx, func(finish func(error)) []*transport.Call {
		a.finish = finish
		return calls
	})
	if err != nil {
		if a.settled.Swap(true) { // the answer came when ctx ended
			a.discard()
		}
		return session.CreatedNode{}, false, err
	}
	entry, err = a.result()
	return entry, errors.Is(err, session.ErrConnectionLost), err
}

// An attempt is one create on its way.
type attempt struct {
	maker    *maker
	creation *Creation
	try      lostTry             // if its answer is lost
	entry    session.CreatedNode // written before finish is called
	err      error
	unlisted error // why there is no listing
	finish   func(error)
	settled  atomic.Bool // the answer came or the caller's context ended: the later of the two discards the node
}

func (a *attempt) calls() []*transport.Call {
	m, c := a.maker, a.creation
	create := m.createCall(c, func(path string, stat *zk.Stat, err error) {
		a.entry.Path, a.entry.Stat, a.err = path, stat, err
		if err == nil && c.first == nil {
			m.observers.created(path)
		}
		if !c.list {
			a.answered()
		}
	})
	if !c.list {
		return one(create)
	}
	return []*transport.Call{create, transport.Children(c.Dir, false, func(children []string, stat *zk.Stat, err error) {
		if err == nil {
			a.entry.Children = children
			m.observers.listed(c.Dir, children, stat)
		}
		a.unlisted = err
		a.answered()
	})}
}

func (a *attempt) answered() {
	if a.settled.Swap(true) {
		a.discard()
	}
	a.finish(nil)
}

func (a *attempt) result() (session.CreatedNode, error) {
	if a.err == nil && errors.Is(a.unlisted, session.ErrTooLarge) { // the next listing would be too large again
		a.discard()
		return session.CreatedNode{}, fmt.Errorf("list %s: %w", a.creation.Dir, a.unlisted)
	}
	err := a.maker.orBroken(a.err)
	if !errors.Is(err, session.ErrConnectionLost) && err != nil {
		a.discard()
	}
	return a.entry, err
}

// discard removes the node, if there is one, since nothing waits for it.
func (a *attempt) discard() {
	switch {
	case a.err == nil:
		a.maker.removals.remove(a.entry.Path, !a.creation.ephemeral())
	case !IsAnswer(a.err):
		a.maker.orphans.sweep(Backlog{orphans: []orphan{a.creation.orphan(a.try)}})
	}
}

// createAfter makes the request that creates a node as the second part of a transaction. done gets no Stat.
func createAfter(first transport.Op, c *Creation, done func(path string, stat *zk.Stat, err error)) *transport.Call {
	path := c.path()
	parts := []transport.Op{first, transport.CreateOp(path, c.Data, c.ACL, int32(c.Mode))}
	return transport.Multi(parts, func(results []transport.OpResult, err error) {
		for _, r := range results {
			err = cmp.Or(err, r.Err)
		}
		done(path, nil, err)
	})
}
