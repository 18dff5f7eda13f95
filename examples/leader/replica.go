package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

const (
	election = "/election"
	progress = "/progress" // how many items are done, by all leaders together
)

// A replica is one process of the service.
type replica struct {
	id       string
	client   *framework.Client
	selector *leader.LeaderSelector
	pause    time.Duration // how long an item of the work takes
	say      func(format string, args ...any)
	tell     func(event)
}

// An event is what a replica does as the leader.
type event struct {
	id   string
	what string // leads, item, unsure whether an item is done, lost, leaves
	item int
	at   time.Time
}

func newReplica(id string, client *framework.Client, pause time.Duration, say func(string, ...any), tell func(event)) *replica {
	return &replica{
		id: id, client: client, pause: pause, say: say, tell: tell,
		selector: leader.NewLeaderSelector(client, election, leader.WithID(id)),
	}
}

// stand stands for election until ctx ends. When it returns, the replica does not lead, and its node is gone, so that
// the next one leads.
func (r *replica) stand(ctx context.Context) error {
	err := r.selector.Run(ctx, r.lead)
	var unsure *locks.ReleaseError // the node goes with the session at the latest
	if ctx.Err() != nil && !errors.As(err, &unsure) {
		return nil
	}
	return err
}

// lead works for as long as the replica leads. Its ctx ends before another one can lead. An item that has begun is not
// broken off for SIGTERM, but for the end of the term.
func (r *replica) lead(ctx context.Context) error {
	term := leader.LeaseFromContext(ctx)
	working := term.Context(context.WithoutCancel(ctx))
	r.report("leads", 0)
	r.say("%s leads, with token %d", r.id, term.FencingToken())
	var err error
	for ctx.Err() == nil && (err == nil || isOutage(err)) { // an outage that is shorter than the term ends nothing
		select {
		case <-ctx.Done():
		case <-time.After(r.pause): // the work
			err = r.item(working, term)
		}
	}
	if lost := term.Err(); lost != nil {
		r.report("lost", 0)
		r.say("%s stops: %v", r.id, lost)
		err = nil // the loss explains it; Run stands again
	} else if ctx.Err() != nil {
		r.report("leaves", 0)
		r.say("%s leaves between two items", r.id)
		err = nil
	}
	return err // after which Run tries again, with a pause, and gives up in the end
}

func isOutage(err error) bool {
	return session.Outage(err) || errors.Is(err, framework.ErrConnectionLost)
}

// item notes that an item is done. With the check in front, a leader that has lost its term and does not know yet
// writes nothing.
func (r *replica) item(ctx context.Context, term *locks.Lease) error {
	done := 0
	data, stat, err := r.client.Get(ctx, progress)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		_, stat, err = r.client.Create(ctx, progress, []byte("0"), framework.CreatingParentContainersIfNeeded())
	case err == nil:
		_, err = fmt.Sscan(string(data), &done)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", progress, err)
	}
	done++
	_, err = r.client.Transaction(ctx, term.Check(), framework.SetOp(progress, fmt.Append(nil, done), stat.Version))
	if err != nil {
		r.report("unsure", done) // without an answer it may have been executed
		return err
	}
	r.report("item", done)
	r.say("%s has done item %d", r.id, done)
	return nil
}

func (r *replica) report(what string, item int) {
	r.tell(event{id: r.id, what: what, item: item, at: time.Now()})
}
