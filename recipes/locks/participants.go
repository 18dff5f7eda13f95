package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"
)

// A Participant is a contender in a queue: who holds a lock, who waits for it, and since when.
type Participant struct {
	Path    string    // of its node, below the client's namespace
	Session int64     // the session that it belongs to
	Since   time.Time // when it came, by the server's clock
	Data    []byte    // of its node: by default an address of its machine. Nil if the client may not read it
	Token   int64     // the fencing token that it has, or will have
}

// maxReads bounds how many nodes are read at once.
const maxReads = 64

// contenders are the nodes in a queue of locks that accept takes.
func (r *recipe) contenders(accept func(node) bool) func(name string) (node, bool) {
	return func(name string) (node, bool) {
		n, ok := parseNode(name, r.queue.opts.extra)
		return n, ok && accept(n)
	}
}

// participants returns the nodes that parse takes, in the order in which they are let in.
func (r *recipe) participants(ctx context.Context, parse func(name string) (node, bool)) ([]Participant, error) {
	if r.err != nil {
		return nil, fmt.Errorf("locks: participants of %q: %w", r.queue.path, r.err)
	}
	client := r.queue.client
	children, _, err := client.Children(ctx, client.RelativePath(r.queue.dir))
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("locks: participants of %q: %w", r.queue.path, err)
	}
	var line []node
	for _, name := range children {
		if n, ok := parse(name); ok {
			line = append(line, n)
		}
	}
	sortLine(line)
	return r.describe(ctx, line)
}

// sortLine puts a line into its order.
func sortLine(line []node) {
	slices.SortStableFunc(line, func(a, b node) int {
		switch {
		case a.before(b):
			return -1
		case b.before(a):
			return 1
		default:
			return 0
		}
	})
}

// describe reads the nodes of a line. Those that have gone in the meantime are left out.
func (r *recipe) describe(ctx context.Context, line []node) ([]Participant, error) {
	found := make([]*Participant, len(line))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxReads)
	for i, n := range line {
		group.Go(func() (err error) {
			found[i], err = r.participant(ctx, n)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("locks: participants of %q: %w", r.queue.path, err)
	}
	var there []Participant
	for _, p := range found {
		if p != nil {
			there = append(there, *p)
		}
	}
	return there, nil
}

func (r *recipe) participant(ctx context.Context, n node) (*Participant, error) {
	client := r.queue.client
	path := client.RelativePath(r.queue.child(n.name))
	data, stat, err := client.Get(ctx, path)
	if errors.Is(err, zk.ErrNoAuth) {
		data = nil
		stat, err = client.Exists(ctx, path)
	}
	switch {
	case errors.Is(err, zk.ErrNoNode), err == nil && stat == nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &Participant{
		Path: path, Session: stat.EphemeralOwner, Since: time.UnixMilli(stat.Ctime), Data: data, Token: stat.Czxid,
	}, nil
}
