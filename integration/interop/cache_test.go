//go:build linux

package interop_test

import (
	"sync"
	"testing"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
)

func TestCachesReportTheSameEvents(t *testing.T) {
	w := newWorld(t)
	fleet.get(t, java)         // skips all stories if there is no Java
	var playing sync.WaitGroup // all at a time: Java waits up to a second before it connects again
	for _, story := range cacheStories {
		playing.Go(func() {
			t.Run(story.name, func(t *testing.T) { play(w.in(t), story) })
		})
	}
	playing.Wait()
}

func TestCreatedChildMakesTheStatOfItsParentNewInTreeCacheAlone(t *testing.T) {
	w := newWorld(t)
	s := newScene(w, cacheStory{before: []change{create("/", "")}})
	read := s.tree["/"]
	s.take(step{singly, []change{create("/a", "")}})
	changed := s.tree["/"]
	if changed.Pzxid == read.Pzxid || changed.Cversion == read.Cversion {
		t.Fatalf("got the Stat %+v of a node with a child, want another than %+v", changed, read)
	}
	for _, r := range s.replicas {
		want := read
		if r.kind == treeCache { // TreeCache lists the parent a moment later
			want = changed
		}
		var got godriver.CacheNode
		if !await.Within(patience, func() bool {
			got = r.nodes()["/"]
			return got.Pzxid == want.Pzxid && got.Cversion == want.Cversion
		}) {
			t.Errorf("%s: got %+v, want the Stat of %+v", r.kind, got, want)
		}
	}
}
