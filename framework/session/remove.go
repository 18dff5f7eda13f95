package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A Removal is the guaranteed deletion of a node: the session asks for it on every connection until the server has
// answered, or the session is over. Nothing need wait for it.
//
// Curator: DeleteBuilder.guaranteed().
type Removal struct {
	done  chan struct{}
	err   error // written before done is closed
	carry bool  // goes on in the next session
}

// Done is closed when the removal has ended.
func (r *Removal) Done() <-chan struct{} { return r.done }

// Err is for after Done: nil if the node is gone, the server's refusal, or what the session ended with.
func (r *Removal) Err() error { return r.err }

func (r *Removal) finish(err error) {
	r.err = err
	close(r.done)
}

// An orphan is a node that a request may have created whose answer came to nobody. It is looked for by its GUID, and
// removed.
type orphan struct {
	dir, prefix string
	carry       bool // goes on in the next session
}

// Remove deletes one of the session's ephemeral nodes for sure, in the background if need be, until the session is
// over. It goes ahead of all later requests: a listing that is sent after it does not have the node.
func (s *Session) Remove(path string) *Removal { return s.remove(path, false) }

func (s *Session) remove(path string, carry bool) *Removal {
	s.mu.Lock()
	over := s.over
	var r *Removal
	if over == nil {
		r = s.removing(path, carry)
	}
	s.mu.Unlock()
	if over == nil {
		return r
	}
	if carry {
		s.tell.Left(Leftovers{Removals: []string{path}})
	}
	r = &Removal{done: make(chan struct{})}
	r.finish(over)
	return r
}

// mu is held, and the session is not over.
func (s *Session) removing(path string, carry bool) *Removal {
	if r := s.removals[path]; r != nil {
		r.carry = r.carry || carry
		return r
	}
	r := &Removal{done: make(chan struct{}), carry: carry}
	s.removals[path] = r
	s.send(s.removal(path, r))
	return r
}

// mu is held.
func (s *Session) removal(path string, r *Removal) *transport.Call {
	return transport.Delete(path, -1, func(err error) {
		if s.unanswered(err) {
			return // asked again on the next connection
		}
		if errors.Is(err, zk.ErrNoNode) {
			err = nil
		}
		if err == nil {
			s.notifyGone(path)
		}
		s.mu.Lock()
		if s.removals[path] != r {
			s.mu.Unlock()
			return
		}
		delete(s.removals, path)
		wakes := s.onRemoved(path, err)
		s.mu.Unlock()
		if err != nil {
			s.cfg.Transport.Logger.Warn("framework: node could not be removed", "path", path, "error", err)
			s.tell.RemovalFailed(path, err)
		}
		wakes.call()
		r.finish(err)
	})
}

// sweep looks for an orphan and removes it, now or on a later connection; also of the next session, if the orphan
// outlives this one.
func (s *Session) sweep(o orphan) {
	s.mu.Lock()
	over := s.over != nil
	if !over {
		s.sweeping(o)
	}
	s.mu.Unlock()
	if over && o.carry {
		s.tell.Left(Leftovers{orphans: []orphan{o}})
	}
}

// mu is held, and the session is not over.
func (s *Session) sweeping(o orphan) {
	s.orphans[o.prefix] = o
	s.send(s.searches(o)...)
}

// searches makes the requests of sweeps: a fence, and listings behind it. If connections have ended on a fence, another
// request must be answered first. mu is held.
func (s *Session) searches(orphans ...orphan) []*transport.Call {
	var behind error
	fence := s.fence(func(err error) { behind = err })
	calls := one(fence)
	for _, o := range orphans {
		calls = append(calls, s.search(o, &behind))
	}
	if !s.support.Doubts(fence) {
		return calls
	}
	return one(transport.Sync("/", func(err error) {
		if s.unanswered(err) {
			return // looked for again on the next connection
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.send(calls...)
	}))
}

func (s *Session) search(o orphan, behind *error) *transport.Call {
	return transport.Children(o.dir, false, func(children []string, _ *zk.Stat, err error) {
		if s.unanswered(*behind) || s.unanswered(err) {
			return // looked for again on the next connection
		}
		for _, name := range children {
			if strings.HasPrefix(name, o.prefix) {
				s.tell.OrphanFound(join(o.dir, name))
				s.remove(join(o.dir, name), o.carry)
			}
		}
		if !errors.Is(err, ErrTooLarge) { // then it is looked for again on the next connection
			s.mu.Lock()
			delete(s.orphans, o.prefix)
			s.mu.Unlock()
		}
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			s.cfg.Transport.Logger.Warn("framework: node of an abandoned create could not be looked for", "path", join(o.dir, o.prefix), "error", err)
		}
	})
}

// unanswered reports whether err leaves open what happened. If it came from the server, overloaded for instance,
// another connection does not come by itself.
func (s *Session) unanswered(err error) bool {
	if err == nil || Definite(err) || hungUp(err) {
		return false
	}
	if !errors.Is(err, transport.ErrBroken) {
		s.transport.Break(err)
	}
	return true
}

// unfinished makes a new connection's first requests. mu is held.
func (s *Session) unfinished() []*transport.Call {
	var calls []*transport.Call
	for _, path := range slices.Sorted(maps.Keys(s.removals)) {
		calls = append(calls, s.removal(path, s.removals[path]))
	}
	if len(s.orphans) > 0 {
		var orphans []orphan
		for _, prefix := range slices.Sorted(maps.Keys(s.orphans)) {
			orphans = append(orphans, s.orphans[prefix])
		}
		calls = append(calls, s.searches(orphans...)...)
	}
	calls = append(calls, s.rearmTrees()...)
	return append(calls, s.rearm()...)
}

// String says whether the removal has ended.
func (r *Removal) String() string {
	select {
	case <-r.done:
		if r.err != nil {
			return fmt.Sprintf("removal (failed: %v)", r.err)
		}
		return "removal (done)"
	default:
		return "removal (pending)"
	}
}

// GoString is String.
func (r *Removal) GoString() string { return r.String() }
