package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A Removal is the guaranteed deletion of a node: the session asks for it on every connection until the server has
// answered, or the session is over. A refusal ends it. The session goes on to ask for the removal of a node of its own,
// at growing intervals. Nothing need wait for it.
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
		s.watches.Removed(path, err != nil, time.Now())
		s.askWatched()
		wakes := s.watches.Wakes()
		first := true
		if r.again(path, err) {
			first = s.noteRefusal(path, r)
		} else {
			delete(s.refusals, path)
		}
		s.mu.Unlock()
		if err != nil && first {
			s.cfg.Transport.Logger.Warn("framework: node could not be removed", "path", path, "error", err)
			s.tell.RemovalFailed(path, err)
		}
		call(wakes)
		r.finish(err)
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

// unfinished makes a new connection's first requests, ahead of the watches. mu is held.
func (s *Session) unfinished() []*transport.Call {
	var calls []*transport.Call
	for _, path := range slices.Sorted(maps.Keys(s.removals)) {
		calls = append(calls, s.removal(path, s.removals[path]))
	}
	return append(calls, s.dueSearches(s.clock.Now())...)
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

// Format is String by every verb.
func (r *Removal) Format(f fmt.State, verb rune) { FormatText(f, verb, r.String()) }
