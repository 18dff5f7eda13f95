package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/recipes/internal/queue"
)

// A Participant is a contender in a queue: a holder or a waiter.
type Participant struct {
	Path    string // of its node, below the client's namespace
	Session int64
	Since   time.Time // when it came, by the server's clock
	Data    []byte    // by default an address of its machine; nil if the client may not read it
	Token   int64     // the fencing token that it has, or will have; a downgraded reader has the writer's
	Shared  bool      // a reader
	Holds   bool      // it has been admitted, as far as the listing tells; the others wait
	// Retained says that this client keeps the node while nobody holds it, see [Retain]. Other clients' count as held.
	Retained bool
}

const maxReads = 64

func (r *recipe) contenders(ctx context.Context, accept func(queue.Node) bool) ([]Participant, error) {
	holds := func(line []queue.Node, i int) bool { return queue.Decide(line, line[i]).Admitted }
	return r.participants(ctx, accept, holds)
}

// participants returns the nodes of a queue that accept takes, in order. holds reports whether one was admitted.
func (r *recipe) participants(
	ctx context.Context, accept func(queue.Node) bool, holds func(line []queue.Node, i int) bool,
) ([]Participant, error) {
	if err := r.misuse(); err != nil {
		return nil, fmt.Errorf("locks: participants of %q: %w", r.path, err)
	}
	client, dir := r.client, r.queue.Config.Dir
	children, _, err := client.Children(ctx, client.RelativePath(dir))
	if errors.Is(err, zk.ErrNoNode) && r.path != client.RelativePath(dir) { // of a semaphore: a node below its own
		var base *zk.Stat
		if base, err = client.Exists(ctx, r.path); err == nil && base == nil {
			err = zk.ErrNoNode
		}
	}
	if err != nil {
		return nil, fmt.Errorf("locks: participants of %q: %w", r.path, err)
	}
	line := r.queue.Markers.ParseAll(children)
	sortLine(line)
	all, err := r.describe(ctx, line, accept)
	if err != nil {
		return nil, fmt.Errorf("locks: participants of %q: %w", r.path, err)
	}
	retained := retainedQueuesOf(client).idleNodes(r.id)
	var there []Participant
	for i, p := range all {
		if p != nil {
			p.Shared, p.Holds, p.Retained = line[i].Shared, holds(line, i), retained[line[i].Name]
			there = append(there, *p)
		}
	}
	return there, nil
}

func sortLine(line []queue.Node) {
	slices.SortStableFunc(line, func(a, b queue.Node) int {
		switch {
		case a.Before(b):
			return -1
		case b.Before(a):
			return 1
		default:
			return 0
		}
	})
}

// describe reads the nodes that accept takes. Others, and nodes that have gone, are nil.
func (r *recipe) describe(ctx context.Context, line []queue.Node, accept func(queue.Node) bool) ([]*Participant, error) {
	found := make([]*Participant, len(line))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxReads)
	for i, n := range line {
		if !accept(n) {
			continue
		}
		group.Go(func() (err error) {
			found[i], err = r.participant(ctx, n)
			return err
		})
	}
	return found, group.Wait()
}

func (r *recipe) participant(ctx context.Context, n queue.Node) (*Participant, error) {
	client := r.client
	path := client.RelativePath(r.queue.Child(n.Name))
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
