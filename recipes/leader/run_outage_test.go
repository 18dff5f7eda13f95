package leader_test

import (
	"context"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// The function's own outage, as of another ensemble, is no outage of the election: each counts for the retry policy.
func TestOutageThatTheFunctionMetCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		elsewhere := &framework.ConnectError{Cause: errLead}
		terms := 0
		err := newPeer(t, server).selector().Run(t.Context(), func(context.Context) error {
			switch terms++; {
			case terms == 1:
				return nil
			case terms > 2+retries:
				return retry.Permanent(errLead)
			}
			return elsewhere
		})
		wantErr(t, err, elsewhere, retry.ErrExhausted)
		if terms != 2+retries {
			t.Errorf("got %d terms, want one that did not fail and %d", terms, 1+retries)
		}
	})
}
