package gocronlock

import (
	"context"
	"errors"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// ErrNotLeader is the answer of IsLeader where another process leads, or none.
var ErrNotLeader = errors.New("gocronlock: this process does not lead")

// An Elector lets one process run all jobs. Its methods are safe for concurrent use.
type Elector struct {
	selector *leader.LeaderSelector

	mu   sync.Mutex
	term *term // the present one, or nil; guarded by mu
}

var _ gocron.Elector = (*Elector)(nil)

// A term is what this process does from its election to its resignation.
type term struct {
	lease *locks.Lease
	tasks sync.WaitGroup // one for each Task under way
}

// NewElector returns a participant of the election at path, which stands for it in Run. It does no I/O.
func NewElector(client *framework.Client, path string, opts ...leader.Option) *Elector {
	return &Elector{selector: leader.NewLeaderSelector(client, path, opts...)}
}

// Run stands for election, again after each term, until ctx ends. A term ends with ctx, when it is lost, and when
// another process asks the leader to leave by locks.AttemptRevoke. Before Run resigns it waits for the tasks that are
// under way. It blocks; its errors are those of leader.LeaderSelector.Run.
func (e *Elector) Run(ctx context.Context) error {
	return e.selector.Run(ctx, func(ctx context.Context) error {
		t := &term{lease: leader.LeaseFromContext(ctx)}
		e.set(t)
		select {
		case <-ctx.Done():
		case <-t.lease.RevocationRequested():
		}
		e.set(nil)
		t.tasks.Wait()
		return nil
	})
}

// IsLeader returns nil if this process leads, and otherwise [ErrNotLeader] or the loss of its term. It asks no server.
func (e *Elector) IsLeader(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.term == nil {
		return ErrNotLeader
	}
	return e.term.lease.Err()
}

// Task makes work a job that ends when this process leads no more. The context of work ends with the job's context and
// when the term is lost. The error of a run that lost the lead is [locks.ErrLeaseLost], also if work returned nil.
func (e *Elector) Task(work func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		e.mu.Lock()
		t := e.term
		if t != nil {
			t.tasks.Add(1) // before the end of the term is set, after which Run waits
		}
		e.mu.Unlock()
		if t == nil {
			return ErrNotLeader
		}
		defer t.tasks.Done()
		return runUnder(ctx, t.lease, work)
	}
}

func (e *Elector) set(t *term) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.term = t
}
