package commands

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/run"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/recipes/locks"
)

const revokeHelp = `zklock revoke [flags] PATH

Asks the holders of a lock to leave, and waits until they have. Nothing is
forced. It works for holders that look at lease.RevocationRequested(), for
zklock run, which sends TERM to its command, and for Java holders that have
called makeRevocable. The holder's node shows the request instead of its data,
so revoke first prints who holds: WHO, session, and since when there is the
node. It needs the permission to write the nodes.

Examples:

  zklock revoke -zk zk1:2181 /locks/nightly
  zklock revoke -wait 5m /locks/nightly
  zklock revoke -wait 0s /locks/nightly      # asks, and does not wait

Exit status: as below; and 75 if a holder has not left in time.
` + statuses

func newRevoke(set *flag.FlagSet) *looker {
	wait := set.Duration("wait", 10*time.Second, "`duration` for which to wait for them to leave")
	return &looker{paths: [2]int{1, 1}, do: func(ctx context.Context, s *scene) error {
		lock, err := survey.Read(ctx, s.client, s.paths[0])
		if err != nil {
			return err
		}
		in := lock.Holders()
		if len(in) == 0 {
			return s.print(lock.Path + " is free: nothing holds it\n")
		}
		if err := s.print(holderLines(in, time.Now())); err != nil {
			return err
		}
		for _, c := range in {
			if c.State == survey.Leads {
				return &statusError{run.ExitConfig, fmt.Errorf("%s belongs to a LeaderLatch, which cannot be asked: "+
					"a write to its node would leave Java's latches behind it waiting for ever", lock.Path)}
			}
			if err := locks.AttemptRevoke(ctx, s.client, c.Path); err != nil {
				return err
			}
			if err := s.print(fmt.Sprintf("asked %s (%s)\n", c.Who, c.Node)); err != nil {
				return err
			}
		}
		if *wait <= 0 {
			return nil
		}
		return s.awaitLeave(ctx, in, *wait)
	}}
}

// holderLines say who holds, as long as the nodes say it: a request replaces their data.
func holderLines(in []survey.Contender, now time.Time) string {
	var out strings.Builder
	for _, c := range in {
		fmt.Fprintf(&out, "holder: %s; session %s, since %s (%s), node %s\n",
			c.Who, sessionText(c.Session), c.Since.Local().Format(time.DateTime), short(now.Sub(c.Since)), c.Node)
	}
	return out.String()
}

// awaitLeave waits until the nodes are gone.
func (s *scene) awaitLeave(ctx context.Context, in []survey.Contender, wait time.Duration) error {
	limit, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, c := range in {
		if err := s.gone(limit, c.Path); err != nil {
			if limit.Err() != nil && ctx.Err() == nil {
				return &statusError{run.ExitBusy, fmt.Errorf("%s was asked, and has not left within %v", c.Node, wait)}
			}
			return err
		}
		if err := s.print(c.Node + " has left\n"); err != nil {
			return err
		}
	}
	return nil
}

// gone waits until a node is.
func (s *scene) gone(ctx context.Context, path string) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		stat, err := s.client.Exists(ctx, path)
		if err != nil || stat == nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), context.Cause(ctx))
		}
	}
}
