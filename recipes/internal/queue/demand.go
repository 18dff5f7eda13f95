package queue

import (
	"sync"

	"github.com/gocurator/curator/framework"
)

// A Demand listens for contenders that a grant keeps waiting, of any client. It watches the directory, which is listed
// again after each change, until it has heard of a contender or is stopped. Nothing is heard of a directory that the
// client may not read, nor while there is no connection: what came meanwhile is in the listing of the next one.
type Demand struct {
	session *framework.Session
	wanted  func(children []string) bool
	heard   func()

	mu    sync.Mutex
	watch *framework.Watch // nil before it is set, and when it is not needed any more
	over  bool             // a contender was heard of, or nobody listens any more
}

// Listen has heard called, once at most, when a listing of the directory says that the grant is wanted. heard is called
// by the goroutine that reads the connection, or by this one; it must not block. The Demand must be stopped.
func (g *Grant) Listen(wanted func(children []string) bool, heard func()) *Demand {
	d := &Demand{session: g.Session, wanted: wanted, heard: heard}
	watch := g.Session.WatchChildren(g.Queue.Config.Dir, d.Look)
	d.mu.Lock()
	d.watch = watch
	d.mu.Unlock()
	d.Look() // what came before the line above found no watch to ask
	return d
}

// Look decides by the newest listing. It is called when there is a new one, and is to be called when wanted may say
// something else of the same one.
func (d *Demand) Look() {
	d.mu.Lock()
	watch := d.watch
	d.mu.Unlock()
	if watch == nil {
		return
	}
	view := d.session.View(watch)
	if view.Status == framework.StatusPresent && d.wanted(view.Children) && d.end() {
		d.heard()
	}
}

// Stop ends the listening. heard is not called from then on, but it may be running.
func (d *Demand) Stop() { d.end() }

// end takes the watch off, and reports whether nothing had ended the listening before.
func (d *Demand) end() bool {
	d.mu.Lock()
	first, watch := !d.over, d.watch
	d.over, d.watch = true, nil
	d.mu.Unlock()
	if watch != nil {
		d.session.Unwatch(watch)
	}
	return first
}

// IsBehind reports whether children have a contender that the node of that name keeps waiting: it conflicts, and stands
// behind.
func (q *Queue) IsBehind(name string, children []string) bool {
	me, ok := q.Markers.Parse(name)
	if !ok {
		return false
	}
	for _, child := range children {
		if n, ok := q.Markers.Parse(child); ok && me.Before(n) && (!me.Shared || !n.Shared) {
			return true
		}
	}
	return false
}
