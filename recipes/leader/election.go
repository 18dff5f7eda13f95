package leader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/internal/setup"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// A Participant is a contender of an election: the leader, or one that waits to lead.
type Participant struct {
	ID       string    // the data of its node. After [locks.AttemptRevoke] that is "__REVOKE__"
	Path     string    // its node's path, below the client's namespace
	Session  int64     // the session that its node belongs to
	Since    time.Time // when it came, by the server's clock
	Token    int64     // the fencing token of its term, or of the term that it will have
	IsLeader bool      // its node is the first one. It may not know of it yet
}

var (
	// ErrNoLeader says that no participant stands for election, so there is no leader.
	ErrNoLeader = errors.New("leader: the election has no leader")
	errNilLead  = errors.New("the function that leads is nil")
)

// An election is the queue at a path, as an observer sees it.
type election struct {
	client *framework.Client
	path   string       // as the user gave it
	queue  *queue.Queue // for the names of its nodes; nothing contends in it
	lock   *locks.InterProcessMutex
	err    error // misuse of the constructor: every call fails with it
}

// newElection makes the election whose nodes have one of the markers in counts.
func newElection(client *framework.Client, path string, counts map[string]bool, problems setup.Problems) election {
	e := election{client: client, path: path}
	problems.Refuse(client == nil, "client is nil")
	if client != nil {
		dir, err := client.AbsolutePath(path)
		problems = append(problems, err)
		e.queue = queue.New(queue.Config{Source: client.NonNamespaceView(), Dir: dir, Counts: counts})
	}
	e.err = session.JoinErrors(problems...)
	return e
}

// wrap says in an error what was tried on which election.
func (e *election) wrap(what string, err error) error {
	return fmt.Errorf("leader: %s of %q: %w", what, e.path, err)
}

// participants returns the contenders in the order in which they lead. A path that does not exist has none.
func (e *election) participants(ctx context.Context) ([]Participant, error) {
	if e.err != nil {
		return nil, e.wrap("participants", e.err)
	}
	line, err := e.lock.Participants(ctx)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, e.wrap("participants", err)
	}
	all := make([]Participant, len(line))
	for i, p := range line {
		all[i] = Participant{
			ID: string(p.Data), Path: p.Path, Session: p.Session, Since: p.Since, Token: p.Token, IsLeader: i == 0,
		}
	}
	return all, nil
}

// leader reads the first node of the queue: one listing and one read, however many wait.
func (e *election) leader(ctx context.Context) (Participant, error) {
	if e.err != nil {
		return Participant{}, e.wrap("leader", e.err)
	}
	var pace retry.Pace
	for {
		began := time.Now()
		children, _, err := e.client.Children(ctx, e.path)
		name, found := e.first(children)
		switch {
		case errors.Is(err, zk.ErrNoNode), err == nil && !found:
			return Participant{}, fmt.Errorf("%w at %q", ErrNoLeader, e.path)
		case err != nil:
			return Participant{}, e.wrap("leader", err)
		}
		path := e.client.RelativePath(e.queue.Child(name))
		data, stat, err := e.client.Get(ctx, path)
		if errors.Is(err, zk.ErrNoAuth) { // it may still say who created it
			data = nil
			if stat, err = e.client.Exists(ctx, path); err == nil && stat == nil {
				err = zk.ErrNoNode
			}
		}
		switch {
		case err == nil:
			return e.participant(name, data, stat), nil
		case !errors.Is(err, zk.ErrNoNode):
			return Participant{}, e.wrap("leader", err)
		}
		// It left between the listing and the read.
		if err := pace.Wait(ctx, time.Since(began)); err != nil {
			return Participant{}, e.wrap("leader", err)
		}
	}
}

// first returns the name of the node that leads, if any of the children stands in the queue.
func (e *election) first(children []string) (name string, found bool) {
	line := e.queue.Markers.ParseAll(children)
	if len(line) == 0 {
		return "", false
	}
	return slices.MinFunc(line, func(a, b queue.Node) int {
		switch {
		case a.Before(b):
			return -1
		case b.Before(a):
			return 1
		default:
			return cmp.Compare(a.Name, b.Name)
		}
	}).Name, true
}

// participant makes the participant of the first node.
func (e *election) participant(name string, data []byte, stat *zk.Stat) Participant {
	return Participant{
		ID: string(data), Path: e.client.RelativePath(e.queue.Child(name)), Session: stat.EphemeralOwner,
		Since: time.UnixMilli(stat.Ctime), Token: stat.Czxid, IsLeader: true,
	}
}
