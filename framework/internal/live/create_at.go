package live

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// createAt is [Session.CreateAt]. The node has no GUID by which a search could tell it from others' nodes: it is this
// creation's if it belongs to the session.
//
// A server may execute a create late, see fence, which does no harm while the node is wanted. So the path is noted as
// unsettled, and looked at once the node is not wanted any more.
func (m *maker) createAt(ctx context.Context, path string, data []byte, replaced *zk.Stat) error {
	dir, name := split(path)
	c := &Creation{Dir: dir, Name: name, Data: m.orDefault(data), Mode: session.Ephemeral, ACL: m.cfg.ACL(path)}
	if replaced != nil {
		first := transport.DeleteOp(path, replaced.Version)
		c.first = &first
	}
	waited, err := m.claim(ctx, path)
	var pace retry.Pace
	for late := waited || !m.isAttached(); err == nil; late = true {
		began := time.Now()
		if err = m.waitAttached(ctx); err != nil {
			break
		}
		err = m.createAtOnce(ctx, c, replaced, late)
		missing := replaced == nil && errors.Is(err, zk.ErrNoNode)
		switch {
		case err == nil:
			return nil
		case missing, Retryable(err), ctx.Err() != nil: // the cause of ctx may be any error, and is no answer
		case IsAnswer(err):
			return err
		default:
			m.removeAt(path)
			return err
		}
		_ = pace.WaitOrDone(ctx, time.Since(began), m.done) // waitAttached reports the end
		err = nil
		if missing && ctx.Err() == nil {
			// Servers remove empty containers at any time. So the node is created right after its parent, without a
			// pause.
			err = m.makeParents(ctx, dir, session.Container)
			if errors.Is(err, zk.ErrNoNode) || Retryable(err) || ctx.Err() != nil {
				err = nil
			}
		}
	}
	m.removeAt(path)
	return err
}

// createAtOnce is one try. A node of the session that is there may be that of an earlier one. late says that the caller
// has waited since it has seen the node that is to be replaced.
func (m *maker) createAtOnce(ctx context.Context, c *Creation, replaced *zk.Stat, late bool) error {
	path := c.path()
	if replaced != nil && late {
		if done, err := m.isReplaced(ctx, path, replaced); done || err != nil {
			return err
		}
	}
	_, err := m.createBare(ctx, c)
	if err != nil && (ctx.Err() != nil || !IsAnswer(err) && !errors.Is(err, ErrNotSent)) {
		m.mu.Lock()
		m.unsettled[path] = struct{}{}
		m.mu.Unlock()
	}
	if !errors.Is(err, zk.ErrNodeExists) && !errors.Is(err, zk.ErrBadVersion) {
		return err
	}
	stat, lookErr := m.exists(ctx, path)
	switch {
	case lookErr != nil:
		return lookErr
	case m.isMadeBy(stat, replaced):
		return nil
	default:
		return err
	}
}

// isMadeBy reports whether a node is that of an earlier try. The one that was to be replaced may be the session's, too.
func (m *maker) isMadeBy(stat, replaced *zk.Stat) bool {
	return stat != nil && stat.EphemeralOwner == m.sessionID() && (replaced == nil || stat.Czxid != replaced.Czxid)
}

// isReplaced looks, before a transaction that is not sent at once, whether an earlier try was executed. Otherwise it
// might delete a node of the same version, the session's own or another client's.
func (m *maker) isReplaced(ctx context.Context, path string, replaced *zk.Stat) (bool, error) {
	if err := m.awaitFence(ctx); err != nil {
		return false, err
	}
	stat, err := m.exists(ctx, path)
	switch {
	case err != nil:
		return false, err
	case stat == nil:
		return false, zk.ErrNoNode
	case m.isMadeBy(stat, replaced):
		return true, nil
	case stat.Czxid != replaced.Czxid:
		return false, zk.ErrBadVersion
	default:
		return false, nil
	}
}

// claim ends what would remove the node of a creation that begins: looks for the late node of an earlier one, and its
// removal, whose end it waits for.
func (m *maker) claim(ctx context.Context, path string) (waited bool, err error) {
	for ; ; waited = true {
		m.mu.Lock()
		if m.orphans.of[path] != nil {
			delete(m.orphans.of, path)
			m.unsettled[path] = struct{}{}
		}
		pending := m.removals.pending[path]
		if pending == nil {
			delete(m.removals.refusals, path)
		}
		m.mu.Unlock()
		if pending == nil {
			return waited, nil
		}
		select {
		case <-pending.done:
		case <-ctx.Done():
			return true, retry.ContextError(ctx)
		}
	}
}

// removeAt is [Session.RemoveAt].
func (m *maker) removeAt(path string) *removal {
	m.mu.Lock()
	_, unsettled := m.unsettled[path]
	delete(m.unsettled, path)
	m.mu.Unlock()
	if unsettled {
		dir, name := split(path)
		// The first look is the removal's own.
		m.orphans.sweep(Backlog{orphans: []orphan{{dir: dir, name: name, owner: m.sessionID(), exact: true, looks: 1}}})
	}
	return m.removals.removeOwn(path, unsettled)
}
