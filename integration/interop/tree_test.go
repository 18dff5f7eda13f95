//go:build linux

package interop_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// tree draws everything below path, for people and for comparison: UUIDs are masked, owners are numbered in the order
// of their appearance. Children stand in the order of their creation. ZooKeeper's own nodes are left out.
func (w *world) tree(path string) string {
	w.t.Helper()
	if w.observer == nil {
		return "not looked at"
	}
	var text strings.Builder
	w.draw(&text, path, 0, map[int64]string{})
	return text.String()
}

func (w *world) draw(text *strings.Builder, path string, depth int, owners map[int64]string) {
	data, stat, err := w.observer.Get(path)
	if errors.Is(err, zk.ErrNoNode) || path == "/zookeeper" {
		return
	}
	if err != nil {
		w.t.Fatalf("tree: %s: %v", path, err)
	}
	acl, _, err := w.observer.GetACL(path)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		w.t.Fatalf("tree: %s: %v", path, err)
	}
	kind := "lasting"
	if stat.EphemeralOwner != 0 {
		if owners[stat.EphemeralOwner] == "" {
			owners[stat.EphemeralOwner] = fmt.Sprintf("ephemeral of %c", 'A'+len(owners))
		}
		kind = owners[stat.EphemeralOwner]
	}
	fmt.Fprintf(text, "%s%s %s %q version %d acl %v\n", strings.Repeat("  ", depth), masked(last(path)), kind, data, stat.Version, acl)
	for _, child := range w.byAge(path) {
		w.draw(text, child, depth+1, owners)
	}
}

// byAge returns the paths of a node's children, the oldest first.
func (w *world) byAge(path string) []string {
	type aged struct {
		path  string
		czxid int64
	}
	var all []aged
	for _, name := range w.children(path) {
		child := strings.TrimSuffix(path, "/") + "/" + name
		if there, stat, err := w.observer.Exists(child); err == nil && there {
			all = append(all, aged{path: child, czxid: stat.Czxid})
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return int(a.czxid - b.czxid) })
	paths := make([]string, len(all))
	for i, a := range all {
		paths[i] = a.path
	}
	return paths
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// masked is a node's name with its UUID left out.
func masked(name string) string { return uuid.ReplaceAllString(name, "UUID") }

func last(path string) string { return path[strings.LastIndex(path, "/")+1:] }

var worldACL = zk.WorldACL(zk.PermAll)
