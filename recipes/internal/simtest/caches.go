package simtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/cache"
)

// cachedSeeds is 3: every third seed has caches. In the others all lost answers and events are the recipe's own.
const cachedSeeds = 3

// A follower is a cache beside the recipe, on the client of a peer.
type follower struct {
	env   *Env
	peer  *Peer
	root  string
	cache *cache.CuratorCache

	mu    sync.Mutex
	heard map[string]cache.Node // what the events leave
}

// followers returns a cache of the recipe's directory, of the directory with the recipe's parents, or of the whole
// tree, for each peer.
func (e *Env) followers() (all []*follower) {
	if e.Seed%cachedSeeds != 0 {
		return nil
	}
	roots := []string{e.path, e.path[:strings.LastIndexByte(e.path, '/')], "/"}
	for i, p := range e.Peers {
		if p.mortal {
			continue
		}
		f := &follower{env: e, peer: p, root: roots[i%len(roots)], heard: map[string]cache.Node{}}
		if f.root == "" {
			f.root = "/"
		}
		f.cache = cache.NewCuratorCache(p.Client, f.root, cache.WithReadAgain(time.Minute)) // events may be lost
		f.cache.OnEvent(f.hear)
		all = append(all, f)
	}
	return all
}

func (f *follower) hear(event cache.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch n := event.Node(); event.Kind {
	case cache.Created, cache.Changed:
		f.heard[n.Path] = n
	case cache.Deleted:
		delete(f.heard, n.Path)
	}
}

// follow starts the cache, and checks it now and then until ctx ends. ctx may end before a peer that was cut off has
// started its cache, which checkEnd wants all the same.
func (f *follower) follow(ctx context.Context, dice Dice) {
	for err := f.cache.Start(f.env.T.Context()); err != nil; err = f.cache.Start(f.env.T.Context()) {
		if !session.ShouldStartOver(f.env.T.Context(), err) {
			f.env.T.Errorf("seed %d: %v", f.env.Seed, err)
			return
		}
	}
	for ctx.Err() == nil {
		f.checkSync(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(dice.Some(2 * time.Second)):
		}
	}
}

// checkSync checks what Sync promises, while the tree changes: a node that was there before the call, and is still
// there after it, is in the cache, and one that had gone before the call is not.
func (f *follower) checkSync(ctx context.Context) {
	newest := int64(0)
	for _, s := range f.env.tree(f.root) {
		newest = max(newest, s.czxid)
	}
	before := f.env.tree(f.root)
	if f.cache.Sync(ctx) != nil {
		return // the actors are done
	}
	now := map[string]stamp{}
	for n := range f.cache.All() {
		now[n.Path] = stampOf(n)
	}
	after := f.env.tree(f.root)
	if f.env.LostEvents() {
		return
	}
	for path, want := range before {
		if got := now[path]; got != want && after[path] == want {
			f.env.T.Errorf("seed %d: after Sync the cache of %s at %s has %s as %+v, want %+v",
				f.env.Seed, f.root, f.peer.Server(), path, got, want)
		}
	}
	for path, got := range now {
		if _, there := before[path]; !there && got.czxid <= newest {
			f.env.T.Errorf("seed %d: after Sync the cache of %s has %s as %+v, want none", f.env.Seed, f.root, path, got)
		}
	}
	f.env.countCheck(len(before) > 2)
}

// checkEnd checks, when all is quiet, that the cache has what the servers have, and its events have led to that. Then
// it closes the cache.
func (f *follower) checkEnd() {
	var differs string
	for range 600 {
		if differs = f.differs(); differs == "" {
			break
		}
		time.Sleep(time.Second)
	}
	if differs != "" {
		f.env.T.Errorf("seed %d: in the end the cache of %s (%v): %s", f.env.Seed, f.root, f.cache.Err(), differs)
	}
	if err := f.cache.Close(); err != nil {
		f.env.T.Errorf("seed %d: close the cache of %s: %v", f.env.Seed, f.root, err)
	}
}

func (f *follower) differs() string {
	want := f.env.tree(f.root)
	has, heard := map[string]stamp{}, map[string]stamp{}
	for n := range f.cache.All() {
		has[n.Path] = stampOf(n)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, n := range f.heard {
		heard[path] = stampOf(n)
	}
	if !f.cache.Synced() || fmt.Sprint(has) != fmt.Sprint(want) || fmt.Sprint(heard) != fmt.Sprint(want) {
		return fmt.Sprintf("synced %t, has %v, its events left %v, want %v", f.cache.Synced(), has, heard, want)
	}
	return ""
}

// A stamp is what a cache must know of a node.
type stamp struct {
	czxid, mzxid int64
	data         string
}

func stampOf(n cache.Node) stamp { return stamp{n.Stat.Czxid, n.Stat.Mzxid, string(n.Data)} }

// tree returns the nodes that the servers have, by their paths.
func (e *Env) tree(root string) map[string]stamp {
	leader, nodes := e.Ensemble.Leader(), map[string]stamp{}
	var walk func(path string)
	walk = func(path string) {
		if stat, ok := leader.Stat(path); ok {
			data, _ := leader.Data(path)
			nodes[path] = stamp{stat.Czxid, stat.Mzxid, string(data)}
		}
		for _, name := range leader.Children(path) {
			walk(strings.TrimSuffix(path, "/") + "/" + name)
		}
	}
	walk(root)
	return nodes
}

// LostEvents reports whether a server has lost an event, or is about to: then a cache may be behind until it reads
// again.
func (e *Env) LostEvents() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, happened := range e.events {
		if happened.Fault != nil && happened.Fault.Kind == dropEvent {
			return true
		}
	}
	return false
}

// countCheck counts the checks of caches that had something to follow.
func (e *Env) countCheck(full bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if full {
		e.checks++
	}
}
