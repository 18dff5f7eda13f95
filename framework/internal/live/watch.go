package live

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/framework/session"
)

// WatchData is for [session.Watches].
func (s *Session) WatchData(path string, wake func()) session.Watch {
	return s.watching.subscribe(watches.Key{Path: path}, wake, watches.Promptly)
}

// WatchDataDeferred is for [session.Watches].
func (s *Session) WatchDataDeferred(path string, wake func()) session.Watch {
	return s.watching.subscribe(watches.Key{Path: path}, wake, watches.Deferred)
}

// WatchDataPersistent is for [session.Watches].
func (s *Session) WatchDataPersistent(path string, wake func()) session.Watch {
	return s.watching.subscribe(watches.Key{Path: path}, wake, watches.Persistent)
}

// WatchChildren is for [session.Watches].
func (s *Session) WatchChildren(path string, wake func()) session.Watch {
	return s.watching.subscribe(watches.Key{Path: path, Children: true}, wake, watches.Promptly)
}

// WatchChildrenDeferred is for [session.Watches].
func (s *Session) WatchChildrenDeferred(path string, wake func()) session.Watch {
	return s.watching.subscribe(watches.Key{Path: path, Children: true}, wake, watches.Deferred)
}

// WatchChildrenPersistent is for [session.Watches].
func (s *Session) WatchChildrenPersistent(path string, wake func()) session.Watch {
	return &persistentWatch{watch: s.watching.subscribe(watches.Key{Path: path, Children: true}, wake, watches.Attentive), wake: wake}
}

// WatchWhileConnected is for [session.Watches].
func (s *Session) WatchWhileConnected(path string, part session.NodePart, wake func()) session.Watch {
	return s.watching.subscribe(watches.Key{Path: path, Children: part == session.ReadChildren}, wake, watches.Briefly)
}

// WatchTree is for [session.Watches].
func (s *Session) WatchTree(path string, o session.TreeObserver) error {
	return s.watching.observeTree(path, o)
}

// UnwatchTree is for [session.Watches].
func (s *Session) UnwatchTree(path string, o session.TreeObserver) {
	s.watching.change(func(now time.Time) { s.watching.table.UnobserveTree(path, o, now) })
}

// ObserveChildren is for [session.Watches].
func (s *Session) ObserveChildren(dir string, o session.ChildObserver) { s.observers.add(dir, o) }

// UnobserveChildren is for [session.Watches].
func (s *Session) UnobserveChildren(dir string, o session.ChildObserver) { s.observers.remove(dir, o) }

// A watch is a [session.Watch].
type watch struct {
	all          *watching
	key          watches.Key
	subscription watches.Subscription
}

const watchDelay = 50 * time.Millisecond

func (w *watching) subscribe(key watches.Key, wake func(), how watches.Manner) *watch {
	mustWake(key.Path, wake)
	watch := &watch{all: w, key: key}
	w.begin(func(now time.Time) { w.table.Subscribe(&watch.subscription, key, wake, how, now) })
	return watch
}

// mustWake panics on a nil wake: the goroutine that reads the connection would call it.
func mustWake(path string, wake func()) {
	if wake == nil {
		panic(fmt.Sprintf("session: watch on %q: the function is nil", path))
	}
}

// begin begins subscriptions.
func (w *watching) begin(subscribeLocked func(now time.Time)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := w.table.HasDeferred()
	subscribeLocked(time.Now())
	if w.table.HasDeferred() && !waiting {
		w.putOff = w.clock.Now().Add(watchDelay)
		w.wakeClock()
	}
	w.askInTimeLocked()
}

func (w *watch) View() session.View {
	w.all.mu.Lock()
	view := w.all.table.View(&w.subscription)
	w.all.mu.Unlock()
	return w.all.withOwner(view)
}

func (w *watch) ReadAgain() {
	w.all.change(func(now time.Time) { w.all.table.ReadAgain(&w.subscription, now) })
}

func (w *watch) Stop() {
	w.all.change(func(time.Time) { w.all.table.Unsubscribe(&w.subscription) })
}

// String names the node.
func (w *watch) String() string {
	return fmt.Sprintf("watch on %q", w.key.Path)
}

// Format is String by every verb.
func (w *watch) Format(f fmt.State, verb rune) { session.Format(f, verb, w) }
