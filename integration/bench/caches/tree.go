// Package caches measures caches of trees: how long they take to fill, what they have in memory, how long an event
// takes, and what they cost the leases of the same client.
package caches

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/bench/job"
)

// perDirectory is how many nodes of a tree there are for each of its directories, which are nodes too.
const perDirectory = 100

// Tree returns the paths of a tree of n nodes, each after its parent: root, n/100 directories in it, and the other
// nodes in these by turns.
func Tree(root string, n int) []string {
	paths := []string{root}
	directories := n / perDirectory
	for i := range directories {
		paths = append(paths, fmt.Sprintf("%s/d%04d", root, i))
	}
	for i := len(paths); i < n; i++ {
		directory := root
		if directories > 0 {
			directory = paths[1+i%directories]
		}
		paths = append(paths, fmt.Sprintf("%s/n%05d", directory, i))
	}
	return paths
}

// Plant makes nodes of 100 bytes, some of them at a time. It returns when there are all.
func Plant(ctx context.Context, client *framework.Client, paths []string) error {
	const inTransaction, atOnce = 200, 8
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	// A parent is in the same transaction, or in one before that: in the first, where there may be 200 directories, or
	// else they are made one transaction after the other.
	parents := min(len(paths), 1+len(paths)/perDirectory)
	for begin := 0; begin < len(paths); {
		end := min(begin+inTransaction, len(paths))
		if begin < parents {
			end = min(end, parents)
		}
		var ops []framework.Op
		for _, path := range paths[begin:end] {
			ops = append(ops, framework.CreateOp(path, job.Stamp(0)))
		}
		begin = end
		plant := func() error {
			_, err := client.Transaction(ctx, ops...)
			return err
		}
		if end > parents {
			group.Go(plant)
		} else if err := plant(); err != nil {
			return err
		}
	}
	return group.Wait()
}
