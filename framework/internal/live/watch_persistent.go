package live

import (
	"time"

	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/framework/session"
)

// A persistentWatch is on the children of a node, which is watched again when it is created again: servers set no watch
// on the children of a missing node.
type persistentWatch struct {
	*watch
	wake func()

	// Guarded by the mutex.
	creation *watches.Subscription // to the missing node; nil while it is not known to be missing
	missing  bool                  // creation has said so; unknown then means that the connection is lost
	stopped  bool
}

// View sets the watch that is needed next.
func (w *persistentWatch) View() session.View {
	w.all.mu.Lock()
	view := w.viewLocked()
	w.all.mu.Unlock()
	return w.all.withOwner(view)
}

func (w *persistentWatch) viewLocked() session.View {
	table := w.all.table
	view := table.View(&w.subscription)
	if w.stopped || view.Status != session.StatusGone {
		return view
	}
	if w.creation == nil {
		w.creation = &watches.Subscription{}
		table.Subscribe(w.creation, watches.Key{Path: w.key.Path}, w.wake, watches.Persistent, time.Now())
	}
	switch node := table.View(w.creation); node.Status {
	case session.StatusPresent:
		w.unsubscribeLocked()
		table.Subscribe(&w.subscription, w.key, w.wake, watches.Attentive, time.Now())
		view = table.View(&w.subscription)
	case session.StatusFailed:
		view = node
	case session.StatusGone:
		w.missing = true
	case session.StatusUnknown:
		if w.missing {
			view = node
		}
	}
	w.all.askInTimeLocked()
	return view
}

func (w *persistentWatch) unsubscribeLocked() {
	w.all.table.Unsubscribe(&w.subscription)
	if w.creation != nil {
		w.all.table.Unsubscribe(w.creation)
		w.creation, w.missing = nil, false
	}
}

// Stop leaves no watch behind: a View that comes later sets none.
func (w *persistentWatch) Stop() {
	w.all.change(func(time.Time) {
		w.unsubscribeLocked()
		w.stopped = true
	})
}
