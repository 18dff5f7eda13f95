package cache

import (
	"time"

	"github.com/gocurator/curator/recipes/internal/setup"
)

// An Option changes what a [CuratorCache] keeps. Options that are out of range, or contradict each other, are refused
// by Start.
type Option func(*options)

type options struct {
	depth     int // how far below the root nodes are kept; everything if it is negative
	noData    bool
	keep      func(relative string) bool // nil keeps everything
	maxBytes  int64                      // no limit if it is 0
	readAgain time.Duration              // never if it is 0
	problems  setup.Problems
}

const everything = -1

func newOptions(opts []Option) options {
	o := options{depth: everything, readAgain: time.Hour}
	setup.Apply(&o.problems, &o, opts)
	o.problems.Refuse(o.depth == 0 && o.keep != nil, "WithFilter with a depth of 0: there is nothing to filter")
	return o
}

// WithDepth limits how far below the root nodes are kept: 0 is the root alone, 1 its children as well. By default
// everything below the root is kept.
//
// Curator: CuratorCache.Options.SINGLE_NODE_CACHE and NodeCache are depth 0, PathChildrenCache is depth 1,
// TreeCache.Builder.setMaxDepth().
func WithDepth(depth int) Option {
	return func(o *options) {
		o.problems.Refuse(depth < 0, "WithDepth(%d): a depth is not negative", depth)
		o.depth = depth
	}
}

// WithoutData keeps nodes without their data, which are not even read where the whole tree is one watch.
//
// Curator: CuratorCacheStorage.dataNotCached(), whose events have the new data; cacheData of PathChildrenCache.
func WithoutData() Option { return func(o *options) { o.noData = true } }

// WithFilter keeps only nodes that keep accepts, by their paths relative to the root, such as "workers/7". What it
// refuses is left out with everything below, and is neither listed nor read. The root is always kept. keep must give
// the same answer each time, and neither block nor use the cache: nothing is read meanwhile. If it panics, the node is
// left out, and the panic logged. If it ends its goroutine, as testing's FailNow does, the cache ends, and Err says so.
//
// Curator: TreeCacheSelector.
func WithFilter(keep func(relative string) bool) Option {
	return func(o *options) {
		o.problems.Refuse(keep == nil, "WithFilter: the function is nil")
		o.keep = keep
	}
}

// WithMaxBytes ends the cache with [ErrTooLarge] when its paths and data have more than limit bytes. While a tree is
// read again after an outage, what is gone may be there beside what is new: so long twice as much is allowed.
//
// Curator has none.
func WithMaxBytes(limit int64) Option {
	return func(o *options) {
		o.problems.Refuse(limit <= 0, "WithMaxBytes(%d): the limit must be positive", limit)
		o.maxBytes = limit
	}
}

// WithReadAgain reads the whole tree again in each such time, one request after the other, to find what no event has
// reported: events can be lost, and a change of permissions causes none. The default is an hour; 0 switches it off.
//
// Curator has none.
func WithReadAgain(every time.Duration) Option {
	return func(o *options) {
		o.problems.Refuse(every < 0, "WithReadAgain(%v): a time is not negative", every)
		o.readAgain = every
	}
}
