package locks

import (
	"sync"

	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// Contended returns a channel that is closed when a later contender waits, of any client and language, that this lease
// excludes: for a reader a writer; for a semaphore's lease a contender that finds no lease free, or a limit lowered
// below the leases there are; for a multi-lock's lease any of its parts'. The channel stays closed even if the
// contender gives up.
//
// It is for a holder that can make room between two pieces of work. Tries, which do not write, are not heard.
//
// The first call begins to listen, and does not block. The client lists the lock's directory, and again after each
// change, until it hears of a contender or the lease has ended (see [Lease.Done]). Without READ permission on the
// directory it hears nothing.
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
