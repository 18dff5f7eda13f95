package live_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/zktest"
)

// The servers have got the request, and may execute it.
func TestTrafficCountsARequestWhoseCallerLeavesBeforeTheAnswer(t *testing.T) {
	counting := framework.WithTrace(framework.Trace{Operation: func(context.Context, framework.Operation) {}})
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Server.HoldRequest(zktest.Match{Op: zktest.OpSetData})
		var traffic live.Traffic
		_, err := w.live().Set(live.WithTraffic(w.Within(time.Second), &traffic), "/a", nil, -1)
		wantErr(t, err, context.DeadlineExceeded)
		if traffic.Sent == 0 || traffic.Received != 0 || traffic.Server == "" {
			t.Errorf("got %+v, want a request to a server and no answer", traffic)
		}
	}, counting)
}
