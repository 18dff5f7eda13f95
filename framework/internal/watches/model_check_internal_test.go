package watches

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// check is the invariants of doc.go.
func (w *world) check() error {
	if w.wrong != nil {
		return w.wrong
	}
	for i, sub := range w.subs {
		if sub == nil {
			continue
		}
		view := w.table.View(&sub.sub)
		if view.Status == Present && view.Stat == nil && w.wishes[i].knows == nothing {
			return fmt.Errorf("subscription %d sees %+v, which was not read", i, view)
		}
		if sub.gone && view.Status != Gone && sub.how != Persistent {
			return fmt.Errorf("subscription %d sees %+v after it has seen the node gone", i, view)
		}
		if view.Current && !w.isArmed(sub.sub.node.key) && w.lost == 0 {
			return fmt.Errorf("the view of subscription %d is current, the server has no watch, and no event is on its way", i)
		}
	}
	for key, n := range w.table.nodes {
		newest := 0
		for _, m := range slices.Concat(w.toServer, w.toClient) {
			if m.request.node == n && m.request.number == n.newest {
				newest++
			}
		}
		if n.pending() != (newest == 1) {
			return fmt.Errorf("%v is in phase %d, with %d newest requests under way", key, n.phase, newest)
		}
	}
	if !w.isQuiet() {
		return nil
	}
	return errors.Join(w.checkKnowledge(), w.checkTrees(), w.checkServer())
}

// isArmed reports whether the server will report the next change of a node, or has.
func (w *world) isArmed(key Key) bool {
	set := w.server.data[key.Path] || w.server.trees[key.Path]
	if key.Children {
		set = w.server.children[key.Path]
	}
	return set || slices.ContainsFunc(w.toClient, func(m message) bool {
		about := m.event.kind == zk.EventNodeDeleted || key.Children == (m.event.kind == zk.EventNodeChildrenChanged)
		return m.kind == event && m.event.path == key.Path && about
	})
}

// checkKnowledge finds a subscription that does not know what is there, or was not woken to look.
func (w *world) checkKnowledge() error {
	for i, sub := range w.subs {
		if sub == nil {
			continue
		}
		view, key := w.table.View(&sub.sub), sub.sub.node.key
		version, there := w.server.nodes[key.Path]
		_, unread := w.server.unreadable[key.Path] // no event says that a permission has changed
		switch {
		case sub.stale:
			return fmt.Errorf("subscription %d was not woken for %+v", i, view)
		case view.Status == Gone && (!there || sub.how != Persistent), view.Status == Refused && w.denied,
			view.Status == Refused && unread && sub.how == Persistent:
		case view.Status == Present && view.Stat == nil && there && view.Current && w.server.mzxid[key.Path] <= sub.sub.knows:
		case !there, !view.Current, view.Stat == nil, !key.Children && int(view.Stat.Version) != version,
			key.Children && !slices.Equal(view.Children, w.server.childrenOf(key.Path)),
			!key.Children && !unread && string(view.Data) != fmt.Sprint(version):
			return fmt.Errorf("subscription %d has %+v; version %d is there: %t", i, view, version, there)
		}
	}
	return nil
}

// checkTrees finds a tree's observer that does not know what is there.
func (w *world) checkTrees() error {
	for _, ear := range w.ears {
		if ear == nil {
			continue
		}
		for path, version := range w.server.nodes {
			if strings.HasPrefix(path, ear.path) && ear.known[path] != version || !ear.watches || ear.refused {
				return fmt.Errorf("the observer of the tree at %s has %v of %v", ear.path, ear.known, w.server.nodes)
			}
		}
		for path := range ear.known {
			if _, there := w.server.nodes[path]; !there {
				return fmt.Errorf("the observer of the tree at %s still has %s", ear.path, path)
			}
		}
	}
	return nil
}

// checkServer finds a watch at the server that serves no subscription, and a table that is not empty without one.
func (w *world) checkServer() error {
	for children, set := range map[bool]map[string]bool{false: w.server.data, true: w.server.children} {
		for path := range set {
			key := Key{path, children}
			if n := w.table.nodes[key]; (n == nil || n.phase == deferred) && !w.table.covered(key) {
				return fmt.Errorf("the server has a watch on %v that nothing needs", key)
			}
		}
	}
	for path := range w.server.trees {
		if w.table.trees[path] == nil {
			return fmt.Errorf("the server has a watch of the tree at %s that nothing needs", path)
		}
	}
	for _, sub := range w.subs {
		if sub != nil {
			return nil
		}
	}
	for _, ear := range w.ears {
		if ear != nil {
			return nil
		}
	}
	if !w.table.IsEmpty() || len(w.server.data)+len(w.server.children) > 0 {
		return errors.New("something is left without a subscription")
	}
	return nil
}
