package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// An Entry is a node that was created under protection, and perhaps the names of all children of its parent at a moment
// after that. Children is nil if they have still to be listed.
type Entry struct {
	Path     string
	Stat     *zk.Stat
	Children []string
}

// CreateProtected creates an ephemeral sequential node called name, with a GUID in front, under dir, and lists dir,
// both in one round trip. Missing parents are made as containers.
//
// It blocks until the server has answered, however often the connection breaks before: a node whose creation was not
// answered is found again by its GUID, so that there is never a second one. ctx and the end of the session end the
// wait; the node, if it was created all the same, is then removed in the background.
//
// Errors: the server's (zk.ErrNoAuth, zk.ErrNoChildrenForEphemerals if dir is ephemeral, …), [ErrTooLarge], a
// [*HangUpError], the session's [Session.Err], or ctx's cause. No node remains.
func (s *Session) CreateProtected(ctx context.Context, dir, name string, data []byte) (Entry, error) {
	return s.createProtected(ctx, dir, name, data, true)
}

// CreateProtectedUnlisted is [Session.CreateProtected] for those who follow dir, and may know from that what is in it:
// it does not list dir. Entry.Children is nil, unless the answer was lost and the node had to be looked for.
func (s *Session) CreateProtectedUnlisted(ctx context.Context, dir, name string, data []byte) (Entry, error) {
	return s.createProtected(ctx, dir, name, data, false)
}

func (s *Session) createProtected(ctx context.Context, dir, name string, data []byte, list bool) (Entry, error) {
	c := &Creation{
		Dir: dir, Name: Protected(name), Data: s.orDefault(data), Mode: EphemeralSequential,
		ACL: s.cfg.ACL(join(dir, name)), list: list,
	}
	var pace retry.Pace
	for {
		began := time.Now()
		entry, err := s.create(ctx, c)
		if !errors.Is(err, zk.ErrNoNode) {
			return entry, err
		}
		err = s.makeParents(ctx, dir, Container)
		switch {
		case err == nil || errors.Is(err, zk.ErrNoNode): // they vanish again and again, which can go on for any length of time
		case !Retryable(err):
			return Entry{}, err
		}
		if err := s.pause(ctx, pace.Next(time.Since(began))); err != nil {
			return Entry{}, err
		}
	}
}

// create creates c once, however often the connection breaks.
func (s *Session) create(ctx context.Context, c *Creation) (Entry, error) {
	var pace retry.Pace
	for {
		began := time.Now()
		if err := s.waitAttached(ctx); err != nil {
			if c.lost {
				s.sweep(c.orphan())
			}
			return Entry{}, err
		}
		entry, err := s.createOrFind(ctx, c)
		if !errors.Is(err, ErrConnectionLost) {
			return entry, err
		}
		// Reconnections are spaced already. But the session may not have noticed yet that its connection is gone.
		_ = s.pause(ctx, pace.Next(time.Since(began))) // waitAttached tells
	}
}

// createOrFind is one try to create c. Whether a create whose answer was lost has been executed is found out before the
// next is sent; c remembers. After a failure that is retryable it can be tried again, in this session or another; after
// any other no node remains.
func (s *Session) createOrFind(ctx context.Context, c *Creation) (Entry, error) {
	if c.lost {
		entry, err := s.find(ctx, c)
		switch {
		case err != nil && Retryable(err):
			return Entry{}, err
		case err != nil:
			s.sweep(c.orphan())
			c.lost = false
			return Entry{}, err
		case entry.Path != "":
			c.lost = false
			return entry, nil
		}
		c.lost = false
	}
	entry, err := s.tryCreate(ctx, c)
	c.lost = errors.Is(err, transport.ErrBroken) && !errors.Is(err, ErrDetached)
	if err == nil && entry.Stat == nil {
		entry, err = s.withStat(ctx, c, entry)
		c.lost = err != nil && Retryable(err)
	}
	return entry, err
}

// tryCreate sends the create, and the listing with it, and waits for the answers. ErrBroken leaves open whether there
// is a node; with any other error there is none, or it is being removed.
func (s *Session) tryCreate(ctx context.Context, c *Creation) (Entry, error) {
	a := &attempt{session: s, creation: c, done: make(chan struct{})}
	calls := []*transport.Call{
		s.createCall(c, func(path string, stat *zk.Stat, err error) {
			a.entry.Path, a.entry.Stat, a.err = path, stat, err
			if err == nil {
				s.entered(path)
			}
			if !c.list {
				a.answered()
			}
		}),
	}
	if err := s.beSure(ctx, calls[0]); err != nil {
		return Entry{}, err
	}
	if err := s.checkSize(calls[0]); err != nil {
		return Entry{}, err
	}
	if c.list {
		calls = append(calls, transport.Children(c.Dir, false, func(children []string, stat *zk.Stat, err error) {
			if err == nil {
				a.entry.Children = children
				s.listed(c.Dir, children, stat)
			}
			a.unlisted = err
			a.answered()
		}))
	}
	s.mu.Lock()
	sent := s.send(calls...)
	s.mu.Unlock()
	if !sent {
		return Entry{}, ErrDetached
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		if a.abandon() {
			return Entry{}, retry.ContextError(ctx)
		}
		a.discard() // the answer came at the same moment
		return Entry{}, retry.ContextError(ctx)
	}
	switch err := a.err; {
	case err == nil && errors.Is(a.unlisted, ErrTooLarge): // it would be as long the next time
		a.discard()
		return Entry{}, fmt.Errorf("list %s: %w", c.Dir, a.unlisted)
	case err == nil, Definite(err), errors.Is(err, transport.ErrBroken):
	case Retryable(err): // the server cannot answer just now; another one may
		s.transport.Break(err)
		return Entry{}, fmt.Errorf("%w: %w", ErrConnectionLost, err)
	default:
		a.discard()
	}
	return a.entry, a.err
}

// An attempt is one create on its way.
type attempt struct {
	session  *Session
	creation *Creation
	entry    Entry // written before done is closed
	err      error
	unlisted error // why there is no listing
	done     chan struct{}

	abandoned bool // guarded by session.mu
	complete  bool // guarded by session.mu
}

func (a *attempt) answered() {
	a.session.mu.Lock()
	a.complete = true
	abandoned := a.abandoned
	a.session.mu.Unlock()
	if abandoned {
		a.discard()
	}
	close(a.done)
}

// abandon reports whether the answer had not come yet. When it comes, the node is removed.
func (a *attempt) abandon() bool {
	a.session.mu.Lock()
	defer a.session.mu.Unlock()
	a.abandoned = !a.complete
	return a.abandoned
}

// discard removes the node that nobody waits for any more, if there is one.
func (a *attempt) discard() {
	switch {
	case a.err == nil:
		a.session.remove(a.entry.Path, !a.creation.ephemeral())
	case !Definite(a.err):
		a.session.sweep(a.creation.orphan())
	}
}
