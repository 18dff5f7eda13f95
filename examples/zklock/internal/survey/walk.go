package survey

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/framework"
)

// A Found is a directory with contenders that Walk has come to.
type Found struct {
	Path    string
	Kind    string
	Nodes   int // contenders; a semaphore's queue and its leases count alike
	Refused bool
}

// Walk finds all locks at and below a path, with at most sixteen reads at a time. Directories that may not be read are
// returned as Refused. It blocks until all of them are read; errors are those of package framework, and ErrNoLock if
// there is no such node.
func Walk(ctx context.Context, client *framework.Client, root string) ([]Found, error) {
	stat, err := client.Exists(ctx, root)
	if err == nil && stat == nil {
		_, err = Read(ctx, client, root) // its error says so
	}
	if err != nil {
		return nil, err
	}
	w := walk{client: client, reads: make(chan struct{}, 16)}
	w.group, ctx = errgroup.WithContext(ctx)
	w.group.Go(func() error { return w.visit(ctx, root) })
	if err := w.group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(w.found, func(a, b Found) int { return cmp.Compare(a.Path, b.Path) })
	return w.found, nil
}

type walk struct {
	client *framework.Client
	reads  chan struct{}
	group  *errgroup.Group

	mu    sync.Mutex
	found []Found
}

func (w *walk) visit(ctx context.Context, dir string) error {
	children, err := w.children(ctx, dir)
	if errors.Is(err, zk.ErrNoAuth) {
		w.add(Found{Path: dir, Kind: "?", Refused: true})
		return nil
	}
	if errors.Is(err, zk.ErrNoNode) {
		return nil // it has gone meanwhile
	}
	if err != nil {
		return err
	}
	kinds, strangers := sortOut(children)
	if len(kinds) > 0 {
		w.add(Found{Path: dir, Kind: describe(kinds), Nodes: len(children) - len(strangers)})
	}
	for _, child := range strangers {
		below := path.Join(dir, child)
		if _, ok := ParseName(child); ok || below == "/zookeeper" { // the servers' own
			continue
		}
		w.group.Go(func() error { return w.visit(ctx, below) })
	}
	return nil
}

func (w *walk) children(ctx context.Context, dir string) ([]string, error) {
	select {
	case w.reads <- struct{}{}:
		defer func() { <-w.reads }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	children, _, err := w.client.Children(ctx, dir)
	return children, err
}

func (w *walk) add(f Found) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.found = append(w.found, f)
}
