//go:build linux

package interop_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest/await"
)

// A scene is a story that is played.
type scene struct {
	*world
	story    cacheStory
	root     string
	link     *proxy
	guest    *zk.Conn
	replicas []*replica
	tree     nodeTree            // at the end of the last step
	ideal    map[string][]string // the events of a cache that has read every node once a step, by path
}

func play(w *world, story cacheStory) {
	w.t.Helper()
	s := newScene(w, story)
	for _, step := range story.steps {
		s.take(step)
	}
	s.judge()
}

// newScene starts the caches of a story.
func newScene(w *world, story cacheStory) *scene {
	w.t.Helper()
	s := &scene{world: w, story: story, root: "/" + name("cached"), link: newProxy(w.t, w.addr), ideal: map[string][]string{}}
	s.guest = newWorldAt(w.t, w.addr).observer
	if err := s.guest.AddAuth("digest", []byte("guest:secret")); err != nil {
		w.t.Fatal(err)
	}
	for _, c := range story.before {
		s.make(c)
	}
	s.replicas = []*replica{w.ourCache(s.link, s.root, story.levels), w.javaCache(treeCache, s.link, s.root, story.levels)}
	if story.levels <= 1 { // CuratorCache has the node alone or everything
		s.replicas = append(s.replicas, w.javaCache(curatorCache, s.link, s.root, story.levels))
	}
	s.settle()
	for _, r := range s.replicas {
		s.checkSynced(r)
	}
	return s
}

// take makes the changes of a step, and waits until all caches have them.
func (s *scene) take(now step) {
	s.t.Helper()
	switch now.how {
	case singly:
		for _, c := range now.changes {
			s.make(c)
			s.settle()
		}
		return
	case together:
		s.transact(now.changes)
	default:
		var sessions []string
		for _, r := range s.replicas {
			sessions = append(sessions, r.session())
		}
		s.link.refuse(true)
		s.link.cutAll()
		for _, c := range now.changes {
			s.make(c)
		}
		if now.how == whileEnded {
			for _, session := range sessions {
				s.takeSession(session)
			}
		}
		s.link.refuse(false)
	}
	s.settle()
	for _, r := range s.replicas {
		if r.kind == ours && now.how != together || r.kind == treeCache && now.how == whileEnded {
			s.checkSynced(r)
		}
	}
}

// checkSynced checks that a cache has reported "synced" behind all that it had missed.
func (s *scene) checkSynced(r *replica) {
	s.t.Helper()
	if lacks := apart(r.log.atSynced(), s.visible(r, s.tree)); lacks != "" {
		s.t.Errorf("%s, events before the last synced:\n%s", r.kind, lacks)
	}
}

func (s *scene) make(c change) {
	s.t.Helper()
	var err error
	switch node := s.node(c); c.op {
	case "create":
		_, err = s.observer.Create(node, []byte(c.data), 0, worldACL)
	case "ephemeral":
		_, err = s.guest.Create(node, []byte(c.data), zk.FlagEphemeral, worldACL)
	case "set":
		_, err = s.observer.Set(node, []byte(c.data), -1)
	case "remove":
		err = s.observer.Delete(node, -1)
	case "secret":
		_, err = s.guest.Create(node, []byte(c.data), 0, zk.AuthACL(zk.PermAll))
	case "publish":
		if _, err = s.guest.SetACL(node, worldACL, -1); err == nil {
			_, err = s.guest.Set(node, []byte(c.data), -1)
		}
	case "leave":
		s.guest.Close()
	}
	if err != nil {
		s.t.Fatalf("%s %s: %v", c.op, c.path, err)
	}
}

func (s *scene) node(c change) string { return path.Join(s.root, c.path) }

func (s *scene) transact(changes []change) {
	s.t.Helper()
	var ops []any
	for _, c := range changes {
		switch node := s.node(c); c.op {
		case "create":
			ops = append(ops, &zk.CreateRequest{Path: node, Data: []byte(c.data), Acl: worldACL})
		case "set":
			ops = append(ops, &zk.SetDataRequest{Path: node, Data: []byte(c.data), Version: -1})
		case "remove":
			ops = append(ops, &zk.DeleteRequest{Path: node, Version: -1})
		}
	}
	if _, err := s.observer.Multi(ops...); err != nil {
		s.t.Fatalf("transaction of %v: %v", changes, err)
	}
}

// settle waits until all caches have what the server has.
func (s *scene) settle() {
	s.t.Helper()
	now := s.nodes(s.root, s.story.levels)
	for name, events := range differences(s.tree, now) {
		s.ideal[name] = append(s.ideal[name], events...)
	}
	s.tree = now
	for _, r := range s.replicas {
		s.awaitTree(r, s.visible(r, now))
	}
}

// visible is the part of a tree that a cache does not miss for ever.
func (s *scene) visible(r *replica, tree nodeTree) nodeTree {
	seen := maps.Clone(tree)
	for _, d := range s.story.deviations {
		if d.kind == r.kind && d.events == never {
			delete(seen, d.path)
		}
	}
	return seen
}

// awaitTree waits until a cache has a tree. Ours must have reported it, too; when Java's have, a flush shows.
func (w *world) awaitTree(r *replica, want nodeTree) {
	w.t.Helper()
	var lacks string
	if !await.Within(patience, func() bool {
		lacks = apart(r.nodes(), want)
		if lacks == "" && r.kind == ours {
			lacks = apart(r.log.reported(), want) + r.log.unsynced()
		}
		return lacks == ""
	}) {
		await.Fatalf(w.t, "%s to have the server's tree:\n%s", r.kind, lacks)
	}
}

// judge compares what the caches have reported in the whole story.
func (s *scene) judge() {
	s.t.Helper()
	for _, r := range s.replicas {
		want := maps.Clone(s.ideal)
		want[""] = s.signals(r.kind)
		for _, d := range s.story.deviations {
			if d.kind != r.kind {
				continue
			}
			fmt.Fprintf(s.t.Output(), "%s, %s: %s, not %s: %s\n",
				d.kind, d.path, d.events, strings.Join(s.ideal[d.path], ", "), d.why)
			want[d.path] = nil
			if d.events != never {
				want[d.path] = strings.Split(d.events, ", ")
			}
			if slices.Equal(want[d.path], s.ideal[d.path]) {
				s.t.Errorf("%s, %s: got %v, which is no deviation", d.kind, d.path, want[d.path])
			}
		}
		s.compare(r, want)
		for _, problem := range r.log.problems {
			s.t.Errorf("%s: %s", r.kind, problem)
		}
	}
}

func (s *scene) compare(r *replica, want map[string][]string) {
	s.t.Helper()
	got := r.log.byPath()
	both := maps.Clone(got)
	maps.Copy(both, want)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if !slices.Equal(got[name], want[name]) {
			s.t.Errorf("%s, events of %q: got %q, want %q", r.kind, name, got[name], want[name])
		}
	}
}

// signals are the events of the whole cache. CuratorCache has one in its life. TreeCache reports states of the
// connection, and reports them before the differences that it has missed. It reports that it is complete again for new
// sessions only.
func (s *scene) signals(kind string) []string {
	all := []string{"synced"}
	for _, step := range s.story.steps {
		switch cut, ended := step.how == whileCutOff, step.how == whileEnded; {
		case kind == ours && (cut || ended):
			all = append(all, "stale", "synced")
		case kind == treeCache && cut:
			all = append(all, "suspended", "reconnected")
		case kind == treeCache && ended:
			all = append(all, "suspended", "lost", "reconnected", "synced")
		}
	}
	return all
}
