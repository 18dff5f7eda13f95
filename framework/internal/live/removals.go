package live

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
)

// A removal is a [session.Removal].
type removal struct {
	done  chan struct{}
	err   error // written before done is closed
	carry bool  // goes on in the next session
	own   bool  // deletes a node of this session alone, see removeOwn
	// fenced makes the first look of an own one come behind a fence: the answer to a create may be lost.
	fenced bool
	// replaced is the own removal that this plain one does the work of; nil for most.
	replaced *removal
}

func (r *removal) Done() <-chan struct{} { return r.done }

func (r *removal) Err() error { return r.err }

func (r *removal) finish(err error) {
	r.err = err
	close(r.done)
	if r.replaced != nil {
		r.replaced.finish(err)
	}
}

// String says whether the removal has ended.
func (r *removal) String() string {
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
func (r *removal) Format(f fmt.State, verb rune) { session.Format(f, verb, r) }

// The removals are the nodes that a session is deleting, and those that the servers refuse to delete.
type removals struct {
	*sender
	watching *watching

	// Guarded by the mutex, by path.
	pending  map[string]*removal
	refusals map[string]*refusedRemoval
}

// remove begins a removal, which goes on in the next session if carry is set.
func (all *removals) remove(path string, carry bool) *removal {
	return all.begin(path, removal{carry: carry})
}

func (all *removals) begin(path string, kind removal) *removal {
	all.mu.Lock()
	if over := all.over; over != nil {
		all.mu.Unlock()
		if kind.carry {
			all.tell.Backlog(Backlog{Removals: []string{path}})
		}
		r := &removal{done: make(chan struct{})}
		r.finish(over)
		return r
	}
	r, calls := all.requestLocked(path, kind)
	unwritten, _ := all.queueLocked(calls...)
	all.mu.Unlock()
	unwritten.Write()
	return r
}

// beginLocked is begin while the session is not over.
func (all *removals) beginLocked(path string, kind removal) {
	_, calls := all.requestLocked(path, kind)
	all.sendLocked(calls...)
}

// requestLocked notes a removal, and returns the requests that begin it, unless it has begun.
func (all *removals) requestLocked(path string, kind removal) (r *removal, calls []*transport.Call) {
	before := all.pending[path]
	if before != nil && (!before.own || kind.own) {
		before.carry = before.carry || kind.carry
		return before, nil
	}
	// The end of an own removal would say nothing of another's node, which a plain one deletes, too.
	r = &removal{done: make(chan struct{}), carry: kind.carry, own: kind.own, replaced: before}
	all.pending[path] = r
	if r.own {
		return r, all.looks(kind.fenced, map[string]*removal{path: r})
	}
	all.watching.table.Removing(path)
	return r, one(all.request(path, r))
}

func (all *removals) request(path string, r *removal) *transport.Call {
	return transport.Delete(path, -1, func(err error) {
		if all.unanswered(err) {
			return // asked again on the next connection
		}
		if errors.Is(err, zk.ErrNoNode) {
			err = nil
		}
		if err == nil {
			all.watching.observers.gone(path)
		}
		all.answered(path, r, err)
	})
}

func (all *removals) answered(path string, r *removal, err error) {
	all.mu.Lock()
	if all.pending[path] != r {
		all.mu.Unlock()
		return
	}
	delete(all.pending, path)
	var wakes []func()
	if !r.own {
		all.watching.table.Removed(path, err != nil, time.Now())
		all.watching.askLocked()
		wakes = all.watching.table.Wakes()
	}
	first := true
	if r.again(path, err) {
		first = all.noteRefusalLocked(path, r)
	} else {
		delete(all.refusals, path)
	}
	all.mu.Unlock()
	if err != nil && first {
		all.cfg.Transport.Logger.Warn("framework: node could not be removed", "path", path, "error", err)
		all.tell.RemovalFailed(path, err)
	}
	call(wakes)
	r.finish(err)
}

// requestsLocked asks for all removals again, on a new connection.
func (all *removals) requestsLocked() []*transport.Call {
	var calls []*transport.Call
	own := map[string]*removal{}
	for _, path := range slices.Sorted(maps.Keys(all.pending)) {
		if r := all.pending[path]; r.own {
			own[path] = r
		} else {
			calls = append(calls, all.request(path, r))
		}
	}
	return append(calls, all.looks(true, own)...)
}

// abandonLocked forgets the removals. It returns what the next session is to do, and those that end with this one.
func (all *removals) abandonLocked() (left []string, ended map[string]*removal) {
	for path, r := range all.pending {
		if r.carry {
			left = append(left, path)
		}
	}
	for path, refused := range all.refusals {
		if refused.carry && all.pending[path] == nil {
			left = append(left, path)
		}
	}
	ended = all.pending
	all.pending, all.refusals = map[string]*removal{}, map[string]*refusedRemoval{}
	return left, ended
}
