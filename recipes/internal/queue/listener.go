package queue

import (
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
)

// A Listener lists the directory after each change, for contenders of any client that a grant keeps waiting. Without
// permission to read the directory it hears nothing.
type Listener struct {
	wanted func(children []string) bool
	heard  func()

	mu    ranked.Mutex[ranked.Leaf, Listener]
	watch session.Watch // nil before and after
	over  bool

	stopKeeper func() // nil without a Keeper
}

// Listen calls heard, on any goroutine and perhaps twice, when wanted accepts a listing, or the grant's Keeper knows of
// a contender without a node. heard only closes a channel. The Listener must be stopped.
func (g *Grant) Listen(wanted func(children []string) bool, heard func()) *Listener {
	l := &Listener{wanted: wanted, heard: heard}
	watch := g.Session.WatchChildren(g.Queue.Config.Dir, l.Check)
	l.mu.Lock()
	l.watch = watch
	l.mu.Unlock()
	l.Check() // earlier news found no watch
	if g.Keeper != nil {
		l.stopKeeper = g.Keeper.Listen(heard)
	}
	return l
}

// Check asks wanted about the newest listing, again if it changes its mind.
func (l *Listener) Check() {
	l.mu.Lock()
	watch := l.watch
	l.mu.Unlock()
	if watch == nil {
		return
	}
	view := watch.View()
	if view.Status == framework.StatusPresent && l.wanted(view.Children) && l.end() {
		l.heard()
	}
}

// Stop ends the listening. heard may still be running.
func (l *Listener) Stop() {
	l.end()
	if l.stopKeeper != nil {
		l.stopKeeper()
	}
}

// end reports whether it was the first.
func (l *Listener) end() bool {
	l.mu.Lock()
	first, watch := !l.over, l.watch
	l.over, l.watch = true, nil
	l.mu.Unlock()
	stopWatch(watch)
	return first
}

// IsBehind reports whether a child conflicts with that node and stands behind it.
func (q *Queue) IsBehind(name string, children []string) bool {
	me, ok := q.Markers.Parse(name)
	if !ok {
		return false
	}
	return slices.ContainsFunc(children, func(child string) bool {
		n, ok := q.Markers.Parse(child)
		return ok && me.Before(n) && (!me.Shared || !n.Shared)
	})
}
