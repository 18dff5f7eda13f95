package session

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// An Entry is a node that was created under protection, and its parent's children at a moment after that; nil if they
// have still to be listed.
type Entry struct {
	Path     string
	Stat     *zk.Stat
	Children []string
}

// CreateProtected creates an ephemeral sequential node called name, with a GUID in front, under dir, and lists dir, in
// one round trip. It makes missing parents as containers.
//
// It blocks until the server has answered, however often the connection breaks: a node whose creation was not answered
// is found by its GUID. A server may execute that creation late, after the search; the session goes on to look for such
// a node for four session timeouts, and removes it. ctx and the end of the session end the wait; a node that was
// created all the same is then removed in the background.
//
// Errors: the server's (zk.ErrNoAuth, zk.ErrNoChildrenForEphemerals if dir is ephemeral, …), [ErrTooLarge], a
// [*HangUpError], the session's [Session.Err], or ctx's cause. No node remains, with these exceptions, until the
// session ends: one whose answer was lost where the client may create but not list, of which a warning is logged; and
// one that a server creates later than that.
func (s *Session) CreateProtected(ctx context.Context, dir, name string, data []byte) (Entry, error) {
	return s.createProtected(ctx, dir, name, data, true)
}

// CreateProtectedUnlisted is [Session.CreateProtected] without the listing, for observers of dir. Entry.Children is
// nil, unless the answer was lost and the node had to be looked for.
func (s *Session) CreateProtectedUnlisted(ctx context.Context, dir, name string, data []byte) (Entry, error) {
	return s.createProtected(ctx, dir, name, data, false)
}

func (s *Session) createProtected(ctx context.Context, dir, name string, data []byte, list bool) (Entry, error) {
	return s.createForSure(ctx, &Creation{
		Dir: dir, Name: name, Data: s.orDefault(data), Mode: EphemeralSequential, ACL: s.cfg.ACL(join(dir, name)), list: list,
	})
}

// createForSure tries until the server has answered, and leaves the tries whose fate is unknown to the session.
func (s *Session) createForSure(ctx context.Context, c *Creation) (entry Entry, err error) {
	defer func() {
		s.sweep(c.Left())
		s.sweepListed(c.Dir, entry.Children) // a try may have been executed between the search for it and the next try
	}()
	var pace retry.Pace
	for {
		began := time.Now()
		if err := s.waitAttached(ctx); err != nil {
			return Entry{}, err
		}
		entry, err = s.createOrFind(ctx, c)
		missing := c.guard == "" && errors.Is(err, zk.ErrNoNode)
		// Reconnections are spaced, but the session may not have noticed yet that its connection is gone, and a server
		// that cannot answer just then keeps it.
		if !missing && !errors.Is(err, ErrConnectionLost) && !passing(err) {
			return entry, err
		}
		_ = pace.WaitUnless(ctx, time.Since(began), s.done) // waitAttached tells
		if missing && ctx.Err() == nil {
			// Servers remove empty containers at any time. So the node is created right after its parent, without a
			// pause.
			err = s.makeParents(ctx, c.Dir, Container)
			if err != nil && !errors.Is(err, zk.ErrNoNode) && !Retryable(err) {
				return Entry{}, err
			}
		}
	}
}

// createOrFind is one try to create c. It first finds out whether an earlier try whose answer was lost, which c
// remembers, was executed. After a failure that is retryable it can be tried again, in any session. In the end
// [Creation.Left] must be looked for.
func (s *Session) createOrFind(ctx context.Context, c *Creation) (Entry, error) {
	if len(c.lost) > 0 {
		entry, err := s.find(ctx, c)
		if err != nil || entry.Path != "" {
			return entry, err
		}
	}
	c.try = protected(c.Name)
	entry, lost, err := s.tryCreate(ctx, c)
	if err == nil && entry.Stat == nil && c.guard == "" {
		entry, err = s.withStat(ctx, c, entry)
		lost = err != nil && Retryable(err)
	}
	if lost {
		c.lost = append(c.lost, lostTry{name: c.try, session: s.ID()})
	}
	return entry, err
}

// tryCreate sends the create, and the listing with it, and waits for the answers. If lost is set, nothing is known of
// the node; after any other error there is none, or it is being removed.
func (s *Session) tryCreate(ctx context.Context, c *Creation) (entry Entry, lost bool, err error) {
	a := &attempt{session: s, creation: c, try: lostTry{name: c.try, session: s.ID()}, done: make(chan struct{})}
	calls := a.calls()
	if err := s.beSure(ctx, calls[0]); err != nil {
		return Entry{}, false, err
	}
	if err := s.checkSize(calls[0]); err != nil {
		return Entry{}, false, err
	}
	meter := s.meter(ctx)
	s.mu.Lock()
	server := s.server
	sent := s.send(calls...)
	s.mu.Unlock()
	if !sent {
		return Entry{}, false, ErrDetached
	}
	meter.sent(server, calls)
	select {
	case <-a.done:
		meter.received(calls)
		entry, err = a.result()
		return entry, errors.Is(err, ErrConnectionLost), err
	case <-ctx.Done():
		if a.settled.Swap(true) { // the answer came at the same moment
			a.discard()
		}
		return Entry{}, false, retry.ContextError(ctx)
	}
}

// An attempt is one create on its way.
type attempt struct {
	session  *Session
	creation *Creation
	try      lostTry // if its answer is lost
	entry    Entry   // written before done is closed
	err      error
	unlisted error // why there is no listing
	done     chan struct{}
	settled  atomic.Bool // by the answer or the caller's context: the later of the two discards the node
}

func (a *attempt) calls() []*transport.Call {
	s, c := a.session, a.creation
	create := s.createCall(c, func(path string, stat *zk.Stat, err error) {
		a.entry.Path, a.entry.Stat, a.err = path, stat, err
		if err == nil && c.guard == "" {
			s.notifyCreated(path)
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
			s.notifyListed(c.Dir, children, stat)
		}
		a.unlisted = err
		a.answered()
	})}
}

func (a *attempt) answered() {
	if a.settled.Swap(true) {
		a.discard()
	}
	close(a.done)
}

func (a *attempt) result() (Entry, error) {
	if a.err == nil && errors.Is(a.unlisted, ErrTooLarge) { // and would be again
		a.discard()
		return Entry{}, fmt.Errorf("list %s: %w", a.creation.Dir, a.unlisted)
	}
	err := a.session.orBroken(a.err)
	if !errors.Is(err, ErrConnectionLost) && err != nil {
		a.discard()
	}
	return a.entry, err
}

// discard removes the node, if there is one, since nothing waits for it.
func (a *attempt) discard() {
	switch {
	case a.err == nil:
		a.session.remove(a.entry.Path, !a.creation.ephemeral())
	case !Definite(a.err):
		a.session.sweep(Leftovers{orphans: []orphan{a.creation.orphan(a.try)}})
	}
}
