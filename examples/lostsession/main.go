// Lostsession shows what a holder sees when its connection goes: nothing, if it is back in time; the end of its
// context, if it is not, and before anybody else is let in.
//
//	go run -C examples ./lostsession                # on a server in memory
//	go run -C examples ./lostsession -zk zk1:2181   # on real ZooKeeper
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() { demo.Main(outages, demo.About(source)) }

func outages(ctx context.Context, env *demo.Env) error {
	for _, outage := range []struct {
		what      string
		harm      func(*demo.Line)
		healAfter time.Duration // zero: only when the lock is lost
	}{
		{"The connection breaks, and is back soon.", (*demo.Line).Cut, 200 * time.Millisecond},
		{"The connection breaks, and stays broken.", (*demo.Line).Cut, 0},
		{"The network falls silent, without a word to either end.", (*demo.Line).Mute, 0},
	} {
		env.Print("\n" + outage.what + "\n")
		if err := suffer(ctx, env, outage.harm, outage.healAfter); err != nil {
			return err
		}
	}
	return nil
}

// suffer lets a holder have an outage while another client waits for the lock.
func suffer(ctx context.Context, env *demo.Env, harm func(*demo.Line), healAfter time.Duration) error {
	client, line := env.BreakableClient()
	reconnected := make(chan struct{}, 1)
	defer client.OnStateChange(func(now framework.StateChange) {
		env.Say("holder's client: %v", now.State)
		if now.State == framework.StateReconnected {
			select {
			case reconnected <- struct{}{}:
			default:
			}
		}
	})()
	lease, err := locks.NewInterProcessMutex(client, "/lock").Acquire(ctx)
	if err != nil {
		return err
	}
	work := lease.Context(ctx) // all that the lock protects is done with this context
	env.Say("holder: holds")

	other := locks.NewInterProcessMutex(env.Client(), "/lock")
	waits := make(chan struct{})
	letIn := make(chan result, 1)
	go func() {
		close(waits)
		lease, err := other.Acquire(ctx)
		letIn <- result{lease, time.Now(), err}
	}()
	<-waits

	harm(line)
	env.Say("holder: cut off; the lease is valid for %v yet", time.Until(lease.ValidUntil()).Round(100*time.Millisecond))
	if healAfter > 0 {
		time.Sleep(healAfter)
		line.Heal()
		select {
		case <-reconnected:
		case <-ctx.Done():
			return ctx.Err()
		}
		return survive(ctx, env, client, lease, letIn)
	}

	<-work.Done() // no server can reach the holder: its own clock ends the lease
	ended := time.Now()
	if until := lease.ValidUntil(); until.Before(ended) { // the lease had ended a moment before we looked
		ended = until
	}
	env.Say("holder: my work stops. %v", context.Cause(work))
	if !errors.Is(context.Cause(work), locks.ErrLeaseLost) {
		return errors.New("the context's cause is not that the lease was lost")
	}
	next := <-letIn
	if next.err != nil {
		return next.err
	}
	if next.at.Before(ended) {
		return fmt.Errorf("the next was let in %v before the holder knew", ended.Sub(next.at))
	}
	env.Say("the next is let in, %v later", next.at.Sub(ended).Round(10*time.Millisecond))
	line.Heal()
	if err := lease.Release(); !errors.Is(err, locks.ErrLeaseLost) {
		return fmt.Errorf("the release of a lost lease said %w", err)
	}
	return next.lease.Release()
}

// survive checks that the holder still holds after an outage, and hands over in the usual way.
func survive(ctx context.Context, env *demo.Env, client *framework.Client, lease *locks.Lease, letIn <-chan result) error {
	if _, err := client.Exists(ctx, "/"); err != nil { // the servers answer again
		return err
	}
	if err := lease.Err(); err != nil {
		return fmt.Errorf("a short outage ended the lease: %w", err)
	}
	select {
	case <-letIn:
		return errors.New("the next was let in during the outage")
	default:
	}
	env.Say("holder: still holds; it has noticed nothing")
	if err := lease.Release(); err != nil {
		return err
	}
	next := <-letIn
	if next.err != nil {
		return next.err
	}
	env.Say("the next is let in, after the release")
	return next.lease.Release()
}

// A result is what a wait for the lock came to.
type result struct {
	lease *locks.Lease
	at    time.Time
	err   error
}
