package queue

import (
	"context"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/retry"
)

// A sharedView is shared by the contenders of one session in one directory. As a ChildObserver it hears of everything
// in the order of arrival, before any contender.
type sharedView struct {
	key        viewKey
	registry   *Registry
	listing    chan struct{} // a semaphore of maxListings
	contenders int           // guarded by registry.mu
	left       time.Time     // when the last contender did; guarded by registry.mu
	idle       *time.Timer   // runs drop, while idling; guarded by registry.mu
	idling     bool          // guarded by registry.mu

	mu       ranked.Mutex[ranked.View, sharedView]
	view     View
	unlisted Unlisted
}

type viewKey struct {
	session framework.Session
	dir     string
	markers string
}

const (
	// maxListings is how many contenders may list the queue at a time. The rest then need not.
	maxListings = 16
	idleTime    = time.Second
)

func (q *Queue) viewKey(session framework.Session) viewKey {
	return viewKey{session: session, dir: q.Config.Dir, markers: q.markersKey}
}

// joinView returns the session's view of the queue. leave must follow.
func (q *Queue) joinView(session framework.Session) *sharedView {
	key := q.viewKey(session)
	q.Registry.mu.Lock()
	defer q.Registry.mu.Unlock()
	v := q.Registry.views[key]
	if v == nil {
		v = &sharedView{key: key, registry: q.Registry, listing: make(chan struct{}, maxListings), view: View{Markers: q.Markers}}
		v.unlisted.Next = -1
		q.Registry.views[key] = v
		session.ObserveChildren(q.Config.Dir, v)
		v.step(steps.Step{Kind: steps.Joined, Markers: key.markers})
	}
	v.contenders++
	return v
}

func (v *sharedView) leave() {
	v.registry.mu.Lock()
	defer v.registry.mu.Unlock()
	if v.contenders--; v.contenders > 0 {
		return
	}
	v.left = time.Now()
	v.idleLocked(idleTime)
}

// idleLocked plans a drop, unless one is planned. It does not move the timer, because drop checks how long the view was
// idle.
func (v *sharedView) idleLocked(d time.Duration) {
	switch {
	case v.idling:
		return
	case v.idle == nil:
		v.idle = time.AfterFunc(d, v.drop)
	default:
		v.idle.Reset(d)
	}
	v.idling = true
}

func (v *sharedView) drop() {
	v.registry.mu.Lock()
	defer v.registry.mu.Unlock()
	v.idling = false
	if v.contenders > 0 || v.registry.views[v.key] != v {
		return
	}
	if rest := idleTime - time.Since(v.left); rest > 0 {
		v.idleLocked(rest)
		return
	}
	delete(v.registry.views, v.key)
	v.step(steps.Step{Kind: steps.Dropped, Markers: v.key.markers})
	v.key.session.UnobserveChildren(v.key.dir, v)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.unwatchDirectoryLocked()
}

func (q *Queue) create(ctx context.Context, v *sharedView) (session.CreatedNode, error) {
	s := v.key.session
	if v.canSkipListing() {
		return s.CreateProtectedWithoutListing(ctx, q.Config.Dir, q.Config.Marker, q.Config.Data)
	}
	select {
	case v.listing <- struct{}{}:
		defer func() { <-v.listing }()
	case <-s.Done():
		return session.CreatedNode{}, s.Err()
	case <-ctx.Done():
		return session.CreatedNode{}, retry.ContextError(ctx)
	}
	if v.canSkipListing() {
		return s.CreateProtectedWithoutListing(ctx, q.Config.Dir, q.Config.Marker, q.Config.Data)
	}
	return s.CreateProtected(ctx, q.Config.Dir, q.Config.Marker, q.Config.Data)
}

func (v *sharedView) Listed(children []string, dir *zk.Stat) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.registry.observer != nil {
		v.step(steps.Step{Kind: steps.Listed, Names: slices.Clone(children), Zxid: dir.Pzxid})
	}
	v.view.List(children)
	v.unlisted.Listed(dir)
}

func (v *sharedView) Created(name string) {
	n, ok := v.view.Markers.Parse(name)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.step(steps.Step{Kind: steps.Created, Node: name})
	v.unlisted.Created(&v.view, n, ok, v.sameDirectoryLocked())
	if d, known := v.unlisted.Decisions[name]; known {
		v.registry.stepOfDecision(steps.ByNumber, v.key, v.view.Nodes, n, d)
	}
}

func (v *sharedView) Gone(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.step(steps.Step{Kind: steps.Gone, Node: name})
	delete(v.unlisted.Decisions, name)
	v.view.Remove(name)
}

// Behind empties the view. A server that is behind may report a writer's end and lack the reader's node that the writer
// became, although it has later nodes.
func (v *sharedView) Behind() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.step(steps.Step{Kind: steps.Behind})
	v.view.List(nil)
	v.unlisted.Next = -1
}

func (v *sharedView) decision(me Node) (Decision, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	d, known := v.view.Decision(me)
	if known {
		v.registry.stepOfDecision(steps.ByView, v.key, v.view.Nodes, me, d)
	}
	return d, known
}
