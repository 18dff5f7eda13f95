// Package cachetest has what tests of caches on real servers share: caches with each kind of options, random changes by
// a client, and a comparison of both with what a client reads. Nothing here needs to see into a server.
package cachetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
)

// Root is the node whose tree is changed and cached.
const Root = "/cached"

// A Follower is a cache, and a subscriber that knows the tree by events alone.
type Follower struct {
	*cache.CuratorCache
	name   string
	keeps  func(relative string) bool
	noData bool

	mu    sync.Mutex
	heard map[string]cache.Node
	again map[string]string // the texts of nodes whose Deleted says that they were made again
	wrong []string          // events that do not follow from those before
}

// Followers returns caches of Root, one of each kind. They are not started.
func Followers(client *framework.Client) []*Follower {
	depth := func(most int) func(relative string) bool {
		return func(relative string) bool { return relative == "" || strings.Count(relative, "/") < most }
	}
	notB := func(relative string) bool { return !slices.Contains(strings.Split(relative, "/"), "b") }
	everything := func(string) bool { return true }
	all := []*Follower{
		{name: "everything", keeps: everything},
		{name: "without data", keeps: everything, noData: true},
		{name: "the root", keeps: depth(0)},
		{name: "the children", keeps: depth(1)},
		{name: "all but b", keeps: notB},
	}
	for i, opts := range [][]cache.Option{
		nil, {cache.WithoutData()}, {cache.WithDepth(0)}, {cache.WithDepth(1)}, {cache.WithFilter(notB)},
	} {
		all[i].CuratorCache = cache.NewCuratorCache(client, Root, opts...)
		all[i].heard, all[i].again = map[string]cache.Node{}, map[string]string{}
		all[i].OnEvent(all[i].hear)
	}
	return all
}

func (f *Follower) hear(e cache.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := e.Node()
	before, known := f.heard[n.Path]
	switch e.Kind {
	case cache.Created:
		old, again := f.again[n.Path]
		f.expect(e, !known && again == (e.Old.Path != "") && (!again || old == f.text(e.Old)))
		delete(f.again, n.Path)
		f.heard[n.Path] = n
	case cache.Changed:
		f.expect(e, known && f.text(before) == f.text(e.Old))
		f.heard[n.Path] = n
	case cache.Deleted:
		f.expect(e, known && f.text(before) == f.text(e.Old))
		delete(f.heard, n.Path)
		if e.New.Path != "" {
			f.again[n.Path] = f.text(e.Old)
		}
	}
}

func (f *Follower) expect(e cache.Event, right bool) {
	if !right {
		f.wrong = append(f.wrong, fmt.Sprintf("%v of %s, which is %s to its events", e.Kind, e.Node().Path, f.text(f.heard[e.Node().Path])))
	}
}

func (f *Follower) text(n cache.Node) string {
	if n.Stat == nil {
		return "none"
	}
	data := string(n.Data)
	if f.noData {
		data = ""
	}
	return fmt.Sprintf("%q czxid %#x mzxid %#x", data, n.Stat.Czxid, n.Stat.Mzxid)
}

// Differs says in which nodes a version of the cache differs from what it should have of a tree, "" if in none.
func (f *Follower) Differs(version cache.Snapshot, tree map[string]cache.Node) string {
	has := map[string]cache.Node{}
	for n := range version.All() {
		has[n.Path] = n
	}
	return f.differs("it", has, tree)
}

// EventsDiffer says what of the events does not lead to a tree, "" if they do.
func (f *Follower) EventsDiffer(tree map[string]cache.Node) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.wrong, "\n") + f.differs("its subscriber", f.heard, tree)
}

func (f *Follower) differs(who string, has, tree map[string]cache.Node) string {
	want := map[string]cache.Node{}
	for path, n := range tree {
		if f.keeps(strings.TrimPrefix(strings.TrimPrefix(path, Root), "/")) {
			want[path] = n
		}
	}
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(union(has, want))) {
		if got, want := f.text(has[path]), f.text(want[path]); got != want {
			lines = append(lines, fmt.Sprintf("%s has %s as %s, want %s", who, path, got, want))
		}
	}
	if len(lines) > 0 {
		lines = append(lines, fmt.Sprintf("synced %t, error %v, %+v", f.Synced(), f.Err(), f.Stats()))
	}
	return strings.Join(lines, "\n")
}

func union(a, b map[string]cache.Node) map[string]cache.Node {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

// Name says which kind of cache it is.
func (f *Follower) Name() string { return f.name }

// Tree reads Root and everything below it, node by node. It is of one moment only if nothing changes meanwhile.
func Tree(ctx context.Context, client *framework.Client) (map[string]cache.Node, error) {
	nodes := map[string]cache.Node{}
	var read func(path string) error
	read = func(path string) error {
		data, stat, err := client.Get(ctx, path)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		if err != nil {
			return err
		}
		nodes[path] = cache.Node{Path: path, Data: data, Stat: stat}
		names, _, err := client.Children(ctx, path)
		for _, name := range names {
			if err == nil {
				err = read(path + "/" + name)
			}
		}
		return err
	}
	err := read(Root)
	return nodes, err
}

// Change makes one change at random: a node is created, set, deleted with what is below, or created again with the data
// that it had. Errors that say that there is no such node, or is one already, are none.
func Change(ctx context.Context, client *framework.Client, dice *rand.Rand) error {
	names := []string{Root}
	for range dice.IntN(4) {
		names = append(names, string(rune('a'+dice.IntN(3))))
	}
	path := strings.Join(names, "/")
	data := fmt.Append(nil, dice.IntN(10))
	remove := func() error { return client.Delete(ctx, path, -1, framework.DeletingChildrenIfNeeded()) }
	create := func() error {
		_, _, err := client.Create(ctx, path, data, framework.CreatingParentsIfNeeded())
		return err
	}
	var err error
	switch dice.IntN(5) {
	case 0:
		err = remove()
	case 1:
		if data, _, err = client.Get(ctx, path); err == nil {
			err = errors.Join(remove(), create())
		}
	case 2:
		_, err = client.Set(ctx, path, data, -1)
	default:
		err = create()
	}
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}
