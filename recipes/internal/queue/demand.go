package queue

import (
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/ranked"
)

// A Demand listens for contenders of any client that a grant keeps waiting: it lists the directory after each change.
// Without permission to read that it hears nothing; after an outage, the next listing.
type Demand struct {
	session framework.Session
	wanted  func(children []string) bool
	heard   func()

	mu    ranked.Mutex[ranked.Leaf, Demand]
	watch framework.Watch // nil before and after
	over  bool

	stopKeeper func() // nil without a Keeper
}

// Listen calls heard when wanted accepts a listing, or the grant's Keeper knows of a contender without a node: on this
// goroutine or another, perhaps twice. heard only closes a channel. The Demand must be stopped.
func (g *Grant) Listen(wanted func(children []string) bool, heard func()) *Demand {
	d := &Demand{session: g.Session, wanted: wanted, heard: heard}
	watch := g.Session.WatchChildren(g.Queue.Config.Dir, d.Look)
	d.mu.Lock()
	d.watch = watch
	d.mu.Unlock()
	d.Look() // earlier news found no watch
	if g.Keeper != nil {
		d.stopKeeper = g.Keeper.Listen(heard)
	}
	return d
}

// Look asks wanted about the newest listing, again if it changes its mind.
func (d *Demand) Look() {
	d.mu.Lock()
	watch := d.watch
	d.mu.Unlock()
	if watch == nil {
		return
	}
	view := watch.View()
	if view.Status == framework.StatusPresent && d.wanted(view.Children) && d.end() {
		d.heard()
	}
}

// Stop ends the listening. heard may still be running.
func (d *Demand) Stop() {
	d.end()
	if d.stopKeeper != nil {
		d.stopKeeper()
	}
}

// end reports whether it was the first.
func (d *Demand) end() bool {
	d.mu.Lock()
	first, watch := !d.over, d.watch
	d.over, d.watch = true, nil
	d.mu.Unlock()
	if watch != nil {
		watch.Stop()
	}
	return first
}

// IsBehind reports whether a child conflicts with that node and stands behind it.
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
