package framework

import (
	"context"
	"errors"
	"iter"

	"github.com/gocurator/curator/framework/session"
)

// Watch yields a node's data and Stat, or that it does not exist: once the server has answered, and then after every
// change, the node's creation and deletion included.
//
//	for view, err := range client.Watch(ctx, "/config") {
//		switch {
//		case err != nil:
//			return err
//		case view.Status == framework.StatusGone:
//			use(defaults)
//		default:
//			use(view.Data)
//		}
//	}
//
// The loop runs on the caller's goroutine, and blocks between two rounds. Each round gets the newest view, so that
// several changes may be one. Disconnections and new sessions are waited out, and yield nothing by themselves: what
// changed meanwhile comes as one view. The views are of StatusPresent or StatusGone. Their slices must not be changed.
//
// The loop ends when its body leaves it, and after an error. The watch then goes from the server, where all watches of
// a client on a node are one.
//
// Errors, each in an [*OpError]: the end of ctx, [ErrClosed], a server's refusal such as zk.ErrNoAuth, and a
// [*ConnectError] if there is no connection at first.
//
// Curator: CuratorCache with Options.SINGLE_NODE_CACHE, usingWatcher(); kazoo: DataWatch.
func (c *Client) Watch(ctx context.Context, path string) iter.Seq2[View, error] {
	return c.watch(ctx, path, false)
}

// WatchChildren is [Client.Watch] of the names of a node's children, unsorted. For their data, and for what is below
// them, there is package recipes/cache: a loop of Watch for each child takes a goroutine for each.
//
// Curator: usingWatcher() of getChildren(), PathChildrenCache without data; kazoo: ChildrenWatch.
func (c *Client) WatchChildren(ctx context.Context, path string) iter.Seq2[View, error] {
	return c.watch(ctx, path, true)
}

func (c *Client) watch(ctx context.Context, path string, children bool) iter.Seq2[View, error] {
	return func(yield func(View, error) bool) {
		fail := func(err error) { yield(View{}, &OpError{Op: "watch", Path: path, Err: err}) }
		absolute, err := c.AbsolutePath(path)
		if err != nil {
			fail(err)
			return
		}
		news := news{children: children}
		for s, err := range c.Sessions(ctx) {
			if err != nil {
				fail(err)
				return
			}
			err = followIn(ctx, s, absolute, children, func(view View) bool {
				return !news.is(view, s.EnsembleGeneration()) || yield(view, nil)
			})
			switch {
			case errors.Is(err, errLeft):
				return
			case !session.ShouldStartOver(ctx, err):
				fail(err)
				return
			}
		}
	}
}

// errLeft says that a loop's body has left it.
var errLeft = errors.New("left")

type news struct {
	children   bool
	told       bool
	generation int
	last       View
}

// is reports whether a view differs from the last, and remembers it. It compares zxids, since a new node's versions
// begin at 0 again. Those of a younger ensemble cannot be compared.
func (n *news) is(view View, generation int) bool {
	same := n.told && generation == n.generation && sameView(n.last, view, n.children)
	n.told, n.generation, n.last = true, generation, view
	return !same
}

func sameView(a, b View, children bool) bool {
	switch {
	case a.Status != b.Status || a.Stat == nil || b.Stat == nil:
		return a.Status == b.Status
	case children: // ClickHouse Keeper leaves Pzxid when a child goes
		return a.Stat.Czxid == b.Stat.Czxid && a.Stat.Pzxid == b.Stat.Pzxid && a.Stat.Cversion == b.Stat.Cversion
	default:
		return a.Stat.Czxid == b.Stat.Czxid && a.Stat.Mzxid == b.Stat.Mzxid
	}
}

// followIn gives each view to yield until that returns false (errLeft), the server refuses, or the session or ctx ends.
// It takes the watch off, also if the body of the loop panics.
func followIn(ctx context.Context, s Session, path string, children bool, yield func(View) bool) error {
	waiter := session.NewWaiter()
	set := s.WatchDataPersistent
	if children {
		set = s.WatchChildrenPersistent
	}
	w := set(path, waiter.Signal)
	defer w.Stop()
	for {
		switch view := w.View(); view.Status {
		case StatusFailed:
			return view.Err
		case StatusPresent, StatusGone:
			if !yield(view) {
				return errLeft
			}
		case StatusUnknown:
		}
		if err := waiter.Wait(ctx, s, nil); err != nil {
			return err
		}
	}
}
