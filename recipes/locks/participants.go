package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// A Participant is a contender in a queue: a holder or a waiter.
type Participant struct {
	Path    string // its node's path, below the client's namespace
	Session int64
	Since   time.Time // when it came, by the server's clock
	Data    []byte    // by default an address of its machine; nil if the client may not read it
	Token   int64     // the fencing token that it has, or will have; a downgraded reader has the writer's
	Shared  bool      // a reader
	Holds   bool      // it has been admitted, as far as the listing shows; the others wait
	// Retained says that this client keeps the node while no contender holds it, see [RetainedLock]. Other clients'
	// count as held.
	Retained bool
}

func (r *recipe) contenders(ctx context.Context, accept func(queue.Node) bool) ([]Participant, error) {
	holds := func(nodes []queue.Node, i int) bool { return queue.Decide(nodes, nodes[i]).Admitted }
	return r.participants(ctx, accept, holds)
}

// participants returns the nodes of a queue that accept takes, in order. holds reports whether one was admitted.
func (r *recipe) participants(
	ctx context.Context, accept func(queue.Node) bool, holds func(nodes []queue.Node, i int) bool,
) ([]Participant, error) {
	if err := r.misuse(); err != nil {
		return nil, fmt.Errorf("locks: participants of %q: %w", r.path, err)
	}
	client, dir := r.client, r.queue.Config.Dir
	children, _, err := client.Children(ctx, client.RelativePath(dir))
	if errors.Is(err, zk.ErrNoNode) && r.path != client.RelativePath(dir) { // a semaphore's directory is below its path
		var base *zk.Stat
		if base, err = client.Exists(ctx, r.path); err == nil && base == nil {
			err = zk.ErrNoNode
		}
	}
	if err != nil {
		return nil, fmt.Errorf("locks: participants of %q: %w", r.path, err)
	}
	nodes := r.queue.Markers.ParseAll(children)
	slices.SortStableFunc(nodes, queue.Node.Compare)
	all, err := r.describe(ctx, nodes, accept)
	if err != nil {
		return nil, fmt.Errorf("locks: participants of %q: %w", r.path, err)
	}
	retained := idleNodes(client, r.id)
	var there []Participant
	for i, p := range all {
		if p != nil {
			p.Shared, p.Holds, p.Retained = nodes[i].Shared, holds(nodes, i), retained[nodes[i].Name]
			there = append(there, *p)
		}
	}
	return there, nil
}

// describe reads the nodes that accept takes. Others, and nodes that have gone, are nil. If the session is lost, it
// goes on in the next one.
func (r *recipe) describe(ctx context.Context, nodes []queue.Node, accept func(queue.Node) bool) ([]*Participant, error) {
	found := make([]*Participant, len(nodes))
	var at []int // their indexes
	var paths []string
	for i, n := range nodes {
		if accept(n) {
			at, paths = append(at, i), append(paths, r.queue.Child(n.Name))
		}
	}
	for {
		s, err := r.client.Session(ctx)
		if err != nil {
			return nil, err
		}
		for read, failed := range s.ReadMany(ctx, paths, session.ReadData) {
			if err = failed; err != nil {
				break
			}
			if found[at[0]], err = r.participant(read); err != nil {
				return nil, err
			}
			at, paths = at[1:], paths[1:]
		}
		if !errors.Is(err, session.ErrSessionLost) {
			return found, err
		}
	}
}

func (r *recipe) participant(read session.NodeRead) (*Participant, error) {
	path := r.client.RelativePath(read.Path)
	switch {
	case errors.Is(read.Err, zk.ErrNoNode):
		return nil, nil
	case read.Err != nil && read.Stat == nil:
		return nil, fmt.Errorf("get %q: %w", path, read.Err)
	}
	return &Participant{
		Path: path, Session: read.Stat.EphemeralOwner, Since: time.UnixMilli(read.Stat.Ctime), Data: read.Data, Token: read.Stat.Czxid,
	}, nil
}

// idleNodes returns the names of a lock's idle nodes.
func idleNodes(client *framework.Client, id identity) map[string]bool {
	qs := retainedQueuesOf(client)
	qs.mu.Lock()
	defer qs.mu.Unlock()
	names := map[string]bool{}
	for key, q := range qs.byKey {
		if key.id == id && q.kept != nil {
			names[q.kept.base.Name] = true
		}
	}
	return names
}

// localWaiters counts those who wait for a lock without a node.
func localWaiters(client *framework.Client, id identity) int {
	qs := retainedQueuesOf(client)
	qs.mu.Lock()
	defer qs.mu.Unlock()
	n := 0
	for key, q := range qs.byKey {
		if key.id == id {
			n += len(q.waiting)
		}
	}
	return n
}
