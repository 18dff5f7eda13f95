package locks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/malformtest"
)

const watchedTree = "/t"

// treeWatchStory is a client that watches a node and all below it.
func treeWatchStory() *malformtest.Story {
	return &malformtest.Story{
		Setup: func(r *malformtest.Run) {
			if err := errors.Join(r.Server.Create(watchedTree, nil), r.Server.Create("/elsewhere", nil)); err != nil {
				r.T.Fatal(err)
			}
		},
		Recover: func(ctx context.Context, r *malformtest.Run) error { return watchAgain(ctx, r, nil) },
		Parts: malformtest.ForLong(
			malformtest.Part{Name: "watching", Live: watchesTree, Kinds: []string{malformtest.FrameAddWatch, malformtest.FrameEvent}},
			malformtest.Part{Name: "leaving", Live: leavesTree, Kinds: []string{malformtest.FrameUnwatch}},
		),
	}
}

// A treeLog is what an observer has heard of a tree.
type treeLog struct {
	run     *malformtest.Run
	session framework.Session

	mu      sync.Mutex
	armed   bool
	refused bool
	paths   map[string]bool
}

func (l *treeLog) Watching() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = true
}

func (l *treeLog) Changed(_ zk.EventType, path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.armed || l.refused || path != watchedTree && !strings.HasPrefix(path, watchedTree+"/") {
		l.run.Bad(malformtest.OutcomeFalse, "heard of %q, armed %t, refused %t", path, l.armed, l.refused)
	}
	l.paths[path] = true
}

func (*treeLog) Lost() {}

func (l *treeLog) Refused(error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = true
}

// watchTree watches the tree in the client's session, or returns nil if there is none.
func watchTree(ctx context.Context, r *malformtest.Run) *treeLog {
	s, err := r.Client.Session(ctx)
	if err != nil {
		return nil
	}
	l := &treeLog{run: r, session: s, paths: map[string]bool{}}
	if s.WatchTree(watchedTree, l) != nil {
		return nil
	}
	return l
}

// watchesTree changes nodes while the client watches them, and others.
func watchesTree(r *malformtest.Run) {
	r.Arm()
	l := watchTree(r.T.Context(), r)
	if l == nil {
		r.T.Fatal("got no watch, want one")
	}
	for _, name := range []string{"a", "b", "c"} {
		time.Sleep(time.Second)
		if err := errors.Join(r.Server.Create(watchedTree+"/"+name, nil), r.Server.SetData("/elsewhere", nil)); err != nil {
			r.T.Error(err)
		}
	}
	r.RecoverBy(func(ctx context.Context, r *malformtest.Run) error { return watchAgain(ctx, r, l) })
}

// leavesTree has the client watch the tree and take the watch off while frames are spoiled.
func leavesTree(r *malformtest.Run) {
	l := watchTree(r.T.Context(), r)
	time.Sleep(time.Second)
	r.Arm()
	l.session.UnwatchTree(watchedTree, l)
	time.Sleep(time.Second)
}

// watchAgain makes sure that an observer hears of changes: l, unless that was refused or its session has ended. It
// takes the watch off. No observer hears of a change right before its watch is set again, so there is another one each
// second.
func watchAgain(ctx context.Context, r *malformtest.Run, l *treeLog) error {
	for n := 0; ; n++ {
		if l == nil || l.gone() {
			if l = watchTree(ctx, r); l == nil {
				return errors.New("the tree cannot be watched")
			}
		}
		changed := fmt.Sprintf("%s/again%d", watchedTree, n)
		if err := errors.Join(r.Server.Create(changed, nil), r.Server.Delete(changed)); err != nil {
			return err
		}
		time.Sleep(time.Second)
		switch {
		case l.heard(changed):
			l.session.UnwatchTree(watchedTree, l)
			return nil
		case ctx.Err() != nil:
			return errors.New("the observer has not heard of a change")
		}
	}
}

func (l *treeLog) heard(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paths[path]
}

func (l *treeLog) gone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused || l.session.Err() != nil
}
