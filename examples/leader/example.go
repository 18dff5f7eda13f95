package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/recipes/leader"
)

// A stage has three replicas, and hears what they do.
type stage struct {
	env      *demo.Env
	observer *leader.LeaderSelector
	events   chan event
	history  []event
}

// A member is a replica that can be stopped and cut off.
type member struct {
	*replica
	line  *demo.Line
	stop  context.CancelFunc // SIGTERM
	ended chan error
}

// example stops the first leader in order and cuts off the second. The third one leads, and the second stands by again.
func example(ctx context.Context, env *demo.Env) error {
	client := env.Client()
	s := &stage{env: env, observer: leader.NewLeaderSelector(client, election), events: make(chan event, 1000)}
	defer func() { // on real servers nothing is left behind
		_ = client.Delete(context.WithoutCancel(ctx), progress, -1)
	}()
	if err := client.Delete(ctx, progress, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all []*member
	for i, id := range []string{"a", "b", "c"} {
		all = append(all, s.join(ctx, id))
		if err := s.awaitStanding(ctx, i+1); err != nil { // so that they come in their order
			return err
		}
	}
	if err := s.play(ctx, all[0], all[1], all[2]); err != nil {
		return err
	}
	for _, m := range all[1:] {
		m.stop()
		if err := <-m.ended; err != nil {
			return fmt.Errorf("replica %s: %w", m.id, err)
		}
	}
	return s.check()
}

// play is what happens to the replicas.
func (s *stage) play(ctx context.Context, a, b, c *member) error {
	if _, err := s.await(ctx, a, "item"); err != nil {
		return err
	}
	s.env.Say("a is stopped, as by SIGTERM")
	stopped := time.Now()
	a.stop()
	next, err := s.await(ctx, b, "leads")
	if err != nil {
		return err
	}
	s.env.Say("b leads %v after that; c stands by", next.at.Sub(stopped).Round(time.Millisecond))
	if err := <-a.ended; err != nil {
		return fmt.Errorf("replica a: %w", err)
	}
	if _, err := s.await(ctx, b, "item"); err != nil {
		return err
	}
	s.env.Say("b is cut off from everything")
	b.line.Cut()
	lost, err := s.await(ctx, b, "lost")
	if err != nil {
		return err
	}
	next, err = s.await(ctx, c, "leads")
	if err != nil {
		return err
	}
	s.env.Say("c leads %v after b has stopped", next.at.Sub(lost.at).Round(time.Millisecond))
	b.line.Heal()
	if err := s.awaitStanding(ctx, 2); err != nil {
		return err
	}
	s.env.Say("b is back, and stands by")
	_, err = s.await(ctx, c, "item")
	return err
}

func (s *stage) join(ctx context.Context, id string) *member {
	client, line := s.env.BreakableClient()
	ctx, stop := context.WithCancel(ctx)
	m := &member{
		replica: newReplica(id, client, 100*time.Millisecond, s.env.Say, func(e event) { s.events <- e }),
		line:    line, stop: stop, ended: make(chan error, 1),
	}
	go func() { m.ended <- m.stand(ctx) }()
	return m
}

// await waits for an event of a member.
func (s *stage) await(ctx context.Context, m *member, what string) (event, error) {
	for limit := time.After(5 * time.Minute); ; {
		select {
		case e := <-s.events:
			s.history = append(s.history, e)
			if e.id == m.id && e.what == what {
				return e, nil
			}
		case err := <-m.ended:
			return event{}, fmt.Errorf("replica %s ends: %w", m.id, err)
		case <-limit:
			return event{}, fmt.Errorf("replica %s: no %q", m.id, what)
		case <-ctx.Done():
			return event{}, ctx.Err()
		}
	}
}

// awaitStanding waits until so many stand for election.
func (s *stage) awaitStanding(ctx context.Context, n int) error {
	for {
		all, err := s.observer.Participants(ctx)
		if err != nil || len(all) == n {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// check finds leaders that overlap, and items that were not done once.
func (s *stage) check() error {
	for len(s.events) > 0 {
		s.history = append(s.history, <-s.events)
	}
	leads, items, unsure := "", 0, 0
	for _, e := range s.history {
		switch {
		case e.what == "leads" && leads != "":
			return fmt.Errorf("%s leads beside %s", e.id, leads)
		case e.what == "leads":
			leads = e.id
		case leads != e.id:
			return fmt.Errorf("%s does something while %q leads", e.id, leads)
		case e.what == "unsure":
			unsure++
		case e.what != "item":
			leads = ""
		case e.item <= items || e.item > items+1+unsure:
			return fmt.Errorf("item %d follows item %d, and %d are unsure", e.item, items, unsure)
		default:
			items, unsure = e.item, 0
		}
	}
	s.env.Say("%d items were done, each once; one leader at a time", items)
	return nil
}
