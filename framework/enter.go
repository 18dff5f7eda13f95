package framework

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// An Entry is a node that was created under protection, and perhaps the names of all children of its parent at a moment
// after that. Children is nil if they have still to be listed.
type Entry struct {
	Path     string
	Stat     *zk.Stat
	Children []string
}

// Enter creates an ephemeral sequential node called name, with a GUID in front, under dir, and lists dir, both in one round
// trip. Missing parents are made as containers.
//
// It blocks until the server has answered, however often the connection breaks before: a node whose creation was not
// answered is found again by its GUID, so that there is never a second one. ctx and the end of the session end the wait; the
// node, if it was created all the same, is then removed in the background.
//
// Errors: the server's (zk.ErrNoAuth, zk.ErrNoChildrenForEphemerals if dir is ephemeral, …), [ErrTooLarge], the session's
// [Session.Err], or ctx's cause. No node remains.
func (s *Session) Enter(ctx context.Context, dir, name string, data []byte) (Entry, error) {
	return s.enter(ctx, dir, name, data, true)
}

// EnterUnlisted is [Session.Enter] for those who follow dir, and may know from that what is in it: it does not list dir.
// Entry.Children is nil, unless the answer was lost and the node had to be looked for.
func (s *Session) EnterUnlisted(ctx context.Context, dir, name string, data []byte) (Entry, error) {
	return s.enter(ctx, dir, name, data, false)
}

func (s *Session) enter(ctx context.Context, dir, name string, data []byte, list bool) (Entry, error) {
	c := &creation{
		dir: dir, prefix: protected(name), data: s.core.orDefault(data), kind: transport.EphemeralSequential,
		acl: s.core.acl(join(dir, name)), list: list,
	}
	for tries := 0; ; {
		entry, err := s.create(ctx, c)
		if !errors.Is(err, zk.ErrNoNode) || tries == parentTries {
			return entry, err
		}
		err = s.makeParents(ctx, dir, Container)
		switch {
		case err == nil:
			tries++
		case !retryable(err) || s.Err() != nil:
			return Entry{}, err
		case !errors.Is(err, ErrConnectionLost):
			pause(ctx, passingPause)
		}
	}
}

// parentTries bounds how often a parent may vanish between its creation and that of its child: an empty container is removed
// by the server at any time.
const parentTries = 5

// protected puts Curator's protection prefix before a name: "_c_", a random UUID, "-".
//
// Curator: ProtectedUtils.toProtectedZNode().
func protected(name string) string {
	var u [16]byte
	_, _ = rand.Read(u[:])  // never fails
	u[6] = u[6]&0x0f | 0x40 // version 4
	u[8] = u[8]&0x3f | 0x80 // variant 10
	x := hex.EncodeToString(u[:])
	return "_c_" + x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:] + "-" + name
}

// A creation is a node that is being created under protection.
type creation struct {
	dir, prefix string // the node's name begins with prefix, which holds the GUID
	data        []byte
	acl         []zk.ACL
	kind        int32
	ttl         time.Duration
	list        bool // list dir as well, in the same segment
	lost        bool // a create was sent, and its answer did not come
}

// path is what is asked for; the server may add a number.
func (c *creation) path() string {
	if c.dir == "/" {
		return "/" + c.prefix
	}
	return c.dir + "/" + c.prefix
}

func (c *creation) ephemeral() bool {
	return c.kind == transport.Ephemeral || c.kind == transport.EphemeralSequential
}

func (c *creation) orphan() orphan {
	return orphan{dir: c.dir, prefix: c.prefix, carry: !c.ephemeral()}
}

// create creates c once, however often the connection breaks.
func (s *Session) create(ctx context.Context, c *creation) (Entry, error) {
	for {
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
	}
}

// createOrFind is one try to create c. Whether a create whose answer was lost has been executed is found out before the next
// is sent; c remembers. After a failure that is retryable it can be tried again, in this session or another; after any other no
// node remains.
func (s *Session) createOrFind(ctx context.Context, c *creation) (Entry, error) {
	if c.lost {
		entry, err := s.find(ctx, c)
		switch {
		case err != nil && retryable(err):
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
	c.lost = errors.Is(err, transport.ErrBroken) && !errors.Is(err, errDetached)
	return entry, err
}

// tryCreate sends the create, and the listing with it, and waits for the answers. ErrBroken leaves open whether there is a
// node; with any other error there is none, or it is being removed.
func (s *Session) tryCreate(ctx context.Context, c *creation) (Entry, error) {
	a := &attempt{session: s, creation: c, done: make(chan struct{})}
	calls := []*transport.Call{
		transport.Create(c.path(), c.data, c.acl, c.kind, c.ttl, func(path string, stat *zk.Stat, err error) {
			a.entry.Path, a.entry.Stat, a.err = path, stat, err
			if err == nil {
				s.entered(path)
			}
			if !c.list {
				a.answered()
			}
		}),
	}
	if size := calls[0].Size(); size > maxRequest {
		return Entry{}, fmt.Errorf("%w: %d bytes, servers take %d", ErrTooLarge, size, maxRequest)
	}
	if c.list {
		calls = append(calls, transport.Children(c.dir, false, func(children []string, stat *zk.Stat, err error) {
			if err == nil {
				a.entry.Children = children
				s.listed(c.dir, children, stat)
			}
			a.answered()
		}))
	}
	s.mu.Lock()
	sent := s.send(calls...)
	s.mu.Unlock()
	if !sent {
		return Entry{}, errDetached
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		if a.abandon() {
			return Entry{}, context.Cause(ctx)
		}
		a.discard() // the answer came at the same moment
		return Entry{}, context.Cause(ctx)
	}
	switch err := a.err; {
	case err == nil, definite(err), errors.Is(err, transport.ErrBroken):
	case retryable(err): // the server cannot answer just now; another one may
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
	creation *creation
	entry    Entry // written before done is closed
	err      error
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
	case !definite(a.err):
		a.session.sweep(a.creation.orphan())
	}
}

// find looks for the node of a create whose answer was lost: sync and list on one connection, so that no server that is
// behind says that it is not there. A node of another session is removed and not found: it would vanish with its owner.
func (s *Session) find(ctx context.Context, c *creation) (Entry, error) {
	children, err := s.syncAndList(ctx, c.dir)
	if errors.Is(err, zk.ErrNoNode) {
		return Entry{}, nil
	}
	if err != nil {
		return Entry{}, err
	}
	for _, name := range children {
		if !strings.HasPrefix(name, c.prefix) {
			continue
		}
		path := join(c.dir, name)
		stat, err := s.Exists(ctx, path)
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return Entry{}, nil
		case err != nil:
			return Entry{}, err
		case c.ephemeral() && stat.EphemeralOwner != s.ID():
			s.Remove(path)
			return Entry{}, nil
		}
		return Entry{Path: path, Stat: stat, Children: children}, nil
	}
	return Entry{}, nil
}

func (s *Session) syncAndList(ctx context.Context, dir string) (children []string, err error) {
	var found []string
	var behind error // the listing proves nothing if the server did not catch up
	err = s.call(ctx, func(finish func(error)) []*transport.Call {
		return []*transport.Call{
			transport.Sync(dir, func(err error) { behind = err }),
			transport.Children(dir, false, func(children []string, _ *zk.Stat, err error) {
				found = children
				if behind != nil && !errors.Is(err, transport.ErrBroken) {
					err = behind
				}
				finish(err)
			}),
		}
	})
	if err != nil && !errors.Is(err, ErrConnectionLost) && !definite(err) && retryable(err) {
		s.transport.Break(err)
		err = fmt.Errorf("%w: %w", ErrConnectionLost, err)
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// acl is what a node gets that is created without one.
func (c *core) acl(path string) []zk.ACL {
	if acl := c.cfg.acl(path); len(acl) > 0 {
		return acl
	}
	return zk.WorldACL(zk.PermAll)
}

func (c *core) orDefault(data []byte) []byte {
	if data == nil {
		return c.cfg.data
	}
	return data
}
