package queue

import (
	"context"
	"errors"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// Both end at one moment: the caller learns of the end of its context, and not of the session's, which the client
// replaces.
func TestContendingEndsWithTheErrorOfTheContextIfTheSessionEndsToo(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		client, err := framework.NewClient("any:2181", framework.WithDialer(zktest.New(t).DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		ctx, cancel := context.WithCancel(t.Context())
		_, _, err = AcrossSessions(ctx, client, func(framework.Session) (bool, Progress, error) {
			cancel()
			return false, Progress{}, session.ErrSessionLost
		})
		if !errors.Is(err, context.Canceled) || errors.Is(err, session.ErrSessionLost) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	})
}
