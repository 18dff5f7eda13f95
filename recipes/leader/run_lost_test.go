package leader_test

import (
	"context"
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
