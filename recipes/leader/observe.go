package leader

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// observe yields the present leader and then each new one, until an error ends it.
func (e *election) observe(ctx context.Context) iter.Seq2[Participant, error] {
	return func(yield func(Participant, error) bool) {
		if e.err != nil {
			yield(Participant{}, e.wrap("observation", e.err))
			return
		}
		o := &observer{election: e, yield: yield, waiter: session.NewWaiter()}
		for s, err := range e.client.Sessions(ctx) {
			if err == nil {
				if err = o.follow(ctx, s); o.stopped {
					return
				}
				if ctx.Err() != nil || session.ShouldStartOver(ctx, err) {
					continue // Sessions reports the end of ctx
				}
			}
			yield(Participant{}, e.wrap("observation", err))
			return
		}
	}
}

// An observer follows the leader through sessions. It watches the leader's node, or the directory while there is none:
// the first node of a queue changes only when that node goes, since every newcomer stands behind it.
type observer struct {
	election *election
	yield    func(Participant, error) bool
	waiter   session.Waiter
	yielded  bool        // something was yielded
	last     Participant // what was yielded last
	stopped  bool        // the consumer has enough
}

// follow yields leaders until the session, ctx or the consumer ends it.
func (o *observer) follow(ctx context.Context, s framework.Session) error {
	e := o.election
	var pace retry.Pace
	for before := ""; ; {
		began := time.Now()
		children, err := s.List(ctx, e.queue.Config.Dir)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		if name, found := e.first(children); found {
			if name == before { // seen to go, and listed again, by a server that is behind
				if err := pace.Wait(ctx, time.Since(began)); err != nil {
					return err
				}
			}
			before = name
			err = o.watchLeader(ctx, s, name)
		} else {
			o.yieldNew(Participant{})
			err = o.awaitNewcomer(ctx, s)
		}
		if err != nil || o.stopped {
			return err
		}
	}
}

// watchLeader yields the leader, and returns nil when its node is gone.
func (o *observer) watchLeader(ctx context.Context, s framework.Session, name string) error {
	watch := s.WatchData(o.election.queue.Child(name), o.waiter.Signal)
	defer watch.Stop()
	for !o.stopped {
		switch view := watch.View(); view.Status {
		case framework.StatusGone:
			return nil
		case framework.StatusFailed:
			return view.Err
		case framework.StatusPresent:
			o.yieldNew(o.election.participant(name, view.Data, view.Stat))
		}
		if o.stopped {
			break
		}
		if err := o.waiter.Wait(ctx, s, nil); err != nil {
			return err
		}
	}
	return nil
}

// awaitNewcomer returns nil when the directory may have a contender.
func (o *observer) awaitNewcomer(ctx context.Context, s framework.Session) error {
	watch := s.WatchChildrenPersistent(o.election.queue.Config.Dir, o.waiter.Signal)
	defer watch.Stop()
	for !o.stopped {
		view := watch.View()
		if view.Status == framework.StatusFailed {
			return view.Err
		}
		if _, found := o.election.first(view.Children); found {
			return nil
		}
		if err := o.waiter.Wait(ctx, s, nil); err != nil {
			return err
		}
	}
	return nil
}

// yieldNew yields p unless it was yielded last.
func (o *observer) yieldNew(p Participant) {
	if o.stopped || o.yielded && o.last.Path == p.Path && o.last.Token == p.Token {
		return
	}
	o.yielded, o.last = true, p
	o.stopped = !o.yield(p, nil)
}
