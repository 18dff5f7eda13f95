package locks

import (
	"sync"

	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// Contended returns a channel that is closed when a later contender that this lease excludes waits, of any client and
// language. A reader hears of writers; a semaphore's lease, of a contender that finds no lease free, or of a limit
// lowered below the leases there are; a multi-lock's, what its parts hear. The channel stays closed even if the
// contender gives up.
//
// It is for a holder that can make room between two pieces of work. Tries that do not write, as of this package on a
// taken lock, are not heard.
//
// The first call begins to listen, and does not block: it lists the lock's directory, and again after each change,
// until a contender was heard of or the lease has ended; see [Lease.Done] for that. Without READ permission on the
// directory nothing is heard; without a connection, later.
//
// Curator has none.
func (l *Lease) Contended() <-chan struct{} {
	if l.missing() != nil {
		return nil
	}
	l.mu.Lock()
	n := l.contended
	first := n == nil
	if first {
		n = &notice{ch: make(chan struct{})}
		l.contended = n
	}
	l.mu.Unlock()
	if first {
		for _, part := range l.single() {
			part.listen(n)
		}
	}
	return n.ch
}

// A notice closes its channel once.
type notice struct {
	ch   chan struct{}
	once sync.Once
}

func (n *notice) give() { n.once.Do(func() { close(n.ch) }) }

// listen gives n when another contender waits for a single lock's lease.
func (l *Lease) listen(n *notice) {
	if l.Err() != nil {
		return
	}
	listener := l.grant.Listen(l.recipe.wantedFrom(l.grant), n.give)
	stop := listener.Stop
	l.grant.Step(steps.Listening)
	if onLimit := l.recipe.onLimit; onLimit != nil {
		forget := onLimit(listener.Check)
		stop = func() { listener.Stop(); forget() }
		listener.Check() // the limit may have changed before the line above
	}
	l.follow(follower{end: func(error) { stop() }})
}

func (r *recipe) wantedFrom(g *queue.Grant) func(children []string) bool {
	if r.crowded != nil {
		return r.crowded
	}
	return func(children []string) bool { return r.queue.IsBehind(g.Name, children) }
}

// crowded reports whether there are more leases than the limit: contenders make their nodes before they wait for room.
func (s *InterProcessSemaphoreV2) crowded(leases []string) bool {
	return s.leases(leases) > s.limit.now()
}

func (s *InterProcessSemaphoreV2) onLimit(changed func()) (stop func()) {
	if s.limit.count == nil {
		return func() {}
	}
	return s.limit.count.OnChange(func(int32) { changed() })
}
