package leader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/lockopt"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

type termKey struct{}

// LeaseFromContext returns the term of office in which a function runs that [LeaderSelector.Run] or
// [LeaderSelector.RunOnce] has called with ctx, or with the context that ctx comes from; nil in any other. It has the
// fencing token, the Check for transactions, and Done.
func LeaseFromContext(ctx context.Context) *locks.Lease {
	term, _ := ctx.Value(termKey{}).(*locks.Lease)
	return term
}

// RunOnce campaigns, and calls lead when this participant leads. The context that lead gets ends when ctx ends and when
// the term is lost, which is before another participant can lead; [LeaseFromContext] returns the term. When lead
// returns or panics, the term ends, and then its node is removed.
//
// RunOnce blocks until lead has returned and the term is released. A lead that does not return when its context ends
// runs without the leadership.
//
// Errors: that of [LeaderSelector.Campaign]; or those of lead and of the release, joined. If the term was lost, the
// error is [locks.ErrLeaseLost] even if lead returned nil.
//
// Curator: LeaderSelector.start(), requeue(), close(), interruptLeadership().
func (s *LeaderSelector) RunOnce(ctx context.Context, lead func(ctx context.Context) error) error {
	if lead == nil {
		return s.wrap("run", errNilLead)
	}
	return s.runOnce(ctx, s.Campaign, lead)
}

func (s *LeaderSelector) runOnce(ctx context.Context, campaigns campaigning, lead func(ctx context.Context) error) error {
	c := &campaign{InterProcessMutex: s.lock, campaigns: campaigns}
	return locks.Do(ctx, c, func(ctx context.Context) error {
		return lead(context.WithValue(ctx, termKey{}, c.term))
	})
}

type campaigning func(ctx context.Context) (*locks.Lease, error)

// A campaign is one acquire of a selector's mutex, which remembers the term.
type campaign struct {
	*locks.InterProcessMutex
	campaigns campaigning
	term      *locks.Lease
}

func (c *campaign) Acquire(ctx context.Context) (term *locks.Lease, err error) {
	c.term, err = c.campaigns(ctx)
	return c.term, err
}

// Run is [LeaderSelector.RunOnce] again and again: each time lead returns nil or loses its term, the participant stands
// for election again, behind all others. A call of lead has returned before the next one begins. Unlike RunOnce, which
// campaigns as [LeaderSelector.Campaign] does, Run re-enters no term: with the context of a term of this election it
// stands behind that.
//
// A failed campaign, and an error of lead that the loss of its term does not explain, is followed by a pause of the
// client's retry policy, see framework.WithRetryPolicy. The policy starts again after each term that did not fail.
// Losses of the term, the session or the connection are no failures, nor is a release that no server has confirmed in
// time; terms that are lost early, one after the other, are followed by pauses of up to a second. Only to begin with,
// there must be a connection. Servers that lack the client's chroot fail a campaign, with framework.ErrNoChroot.
//
// Run blocks until one of the following ends it, and lead has returned and its term is released. It never returns nil.
// Errors:
//
//   - the end of ctx, with the cause of it, joined with what lead returned then;
//   - a *retry.Error with the last failure, when the policy allows no further try;
//   - an error that lead has marked with retry.Permanent;
//   - framework.ErrClosed or framework.ErrAuthRefused, when the client has ended; misuse of the constructor.
//
// Curator: LeaderSelector.autoRequeue(), start(); close() is the end of ctx.
func (s *LeaderSelector) Run(ctx context.Context, lead func(ctx context.Context) error) error {
	switch {
	case s.err != nil:
		return s.wrap("run", s.err)
	case lead == nil:
		return s.wrap("run", errNilLead)
	}
	r := &runner{selector: s, lead: lead}
	defer r.trouble.Over()
	r.lock = locks.NewInterProcessMutex(s.client, s.path, append(slices.Clip(s.opts), func(o *lockopt.Options) { o.Waiting = r.trouble.Over })...)
	for ctx.Err() == nil {
		if err := retry.Do(ctx, s.client.RetryPolicy(), r.term); err != nil {
			return r.ended(ctx, err)
		}
	}
	return r.ended(ctx, nil)
}

// A runner is one call of Run.
type runner struct {
	selector  *LeaderSelector
	lead      func(ctx context.Context) error
	lock      *locks.InterProcessMutex // the selector's, whose waits end trouble
	connected bool                     // some campaign had a connection
	lost      retry.Pace               // between terms that are lost early
	trouble   session.Trouble
}

// term is one round. Its error is a failure that counts for the retry policy, or marked as permanent.
func (r *runner) term(ctx context.Context) error {
	began := time.Now()
	var leadErr error
	err := r.selector.runOnce(ctx, r.campaign, func(ctx context.Context) error {
		leadErr = r.lead(ctx)
		return leadErr
	})
	outage := session.Outage(err) && leadErr == nil
	switch {
	case err == nil:
	case ctx.Err() != nil, r.final(err):
		return retry.Permanent(err)
	case outage && r.connected, leadErr == nil && unconfirmed(err):
		return nil // no pause needed: the attempt already waited for the connection timeout
	case errors.Is(err, locks.ErrLeaseLost) && explained(ctx, leadErr):
		err = r.lost.Wait(ctx, time.Since(began))
	}
	return err
}

// campaign is Campaign without re-entry. Re-entering the caller's term would return it again after each lead, and fail
// for ever once it has ended. Other locks of the caller stay lead's.
func (r *runner) campaign(ctx context.Context) (*locks.Lease, error) {
	term, err := r.selector.campaign(locks.WithoutLease(ctx), r.lock)
	r.connected = r.connected || !session.Outage(err)
	if err == nil || ctx.Err() == nil && !session.Outage(err) && !r.final(err) {
		r.trouble.Note(r.selector.client.Logger(), "leader: campaigns fail", r.selector.path, err)
	}
	return term, err
}

// unconfirmed reports whether err is of a release that no server has refused. Its removal goes on in the background,
// and the next campaign of this participant stands behind that node until it is gone.
func unconfirmed(err error) bool {
	var release *locks.ReleaseError
	return errors.As(err, &release) && !errors.Is(err, zk.ErrNoAuth)
}

// final reports whether no further campaign can succeed.
func (r *runner) final(err error) bool {
	return r.selector.client.Err() != nil || errors.Is(err, framework.ErrInvalidPath) || errors.Is(err, framework.ErrTooLarge)
}

// explained reports whether a lead whose term was lost has failed for that reason.
func explained(ctx context.Context, leadErr error) bool {
	return leadErr == nil || errors.Is(leadErr, locks.ErrLeaseLost) || errors.Is(leadErr, context.Canceled) ||
		session.ShouldStartOver(ctx, leadErr)
}

// ended is what Run returns.
func (r *runner) ended(ctx context.Context, err error) error {
	cause := retry.ContextError(ctx)
	switch {
	case cause == nil, errors.Is(err, cause), errors.Is(err, ctx.Err()) && errors.Is(err, context.Cause(ctx)):
		return err
	case err == nil:
		return r.selector.wrap("run", cause)
	default:
		return r.selector.wrap("run", fmt.Errorf("%w; %w", cause, err))
	}
}
