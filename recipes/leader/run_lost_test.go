package leader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/retry"
)

// Terms that are lost as soon as they begin are no failures of the policy, but are followed by pauses.
func TestRunPausesAfterTermsThatAreLostEarly(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		const lost = 20
		p := newPeer(t, server)
		var last time.Time
		var pauses time.Duration
		terms := 0
		err := p.selector().Run(t.Context(), func(ctx context.Context) error {
			if terms++; terms > 1 {
				pauses += time.Since(last)
			}
			if terms > lost {
				return retry.Permanent(errLead)
			}
			time.Sleep(100 * time.Millisecond) // the node is watched
			wantErr(t, server.Delete(path+"/"+leader.LeaseFromContext(ctx).NodeName()), nil)
			<-ctx.Done()
			last = time.Now()
			return nil
		})
		wantErr(t, err, errLead)
		if least, most := lost/4*time.Second, lost*time.Second; pauses < least || pauses > most {
			t.Errorf("got pauses of %v after %d lost terms, want %v to %v", pauses, lost, least, most)
		}
	})
}

// A function that returns the error of its context after a loss has not failed: no failure counts for the policy.
func TestRunGoesOnAfterFunctionsThatALossHasCanceled(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		terms := 0
		err := p.selector().Run(t.Context(), func(ctx context.Context) error {
			if terms++; terms > 2+retries {
				return retry.Permanent(errLead)
			}
			expire(server, p.sessionID(t))
			<-ctx.Done()
			return ctx.Err()
		})
		wantErr(t, err, errLead)
		if errors.Is(err, retry.ErrExhausted) || terms != 3+retries {
			t.Errorf("got %v after %d terms, want the error of term %d", err, terms, 3+retries)
		}
	})
}
