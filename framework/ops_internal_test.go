package framework

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// Delete takes a missing node for its own work if an earlier try may have been executed, whatever came in between.
func TestATryIsAmbiguousIfAnyEarlierOneMayHaveBeenExecuted(t *testing.T) {
	for name, c := range map[string]struct {
		failures []error
		want     []bool // for each try
	}{
		"lost":                     {[]error{session.ErrConnectionLost}, []bool{false, true}},
		"not sent":                 {[]error{live.ErrNotSent}, []bool{false, false}},
		"lost, then not sent":      {[]error{session.ErrConnectionLost, live.ErrNotSent}, []bool{false, true, true}},
		"not sent, then lost":      {[]error{live.ErrNotSent, session.ErrSessionLost}, []bool{false, false, true}},
		"not sent, lost, not sent": {[]error{live.ErrNotSent, session.ErrConnectionLost, live.ErrNotSent}, []bool{false, false, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				client, err := NewClient("zk:2181", WithDialer(zktest.New(t).DialContext), WithRetryPolicy(retry.NTimes(5, time.Second)))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = client.Close() }()
				refusal := errors.New("no more tries")
				var got []bool
				err = client.do(t.Context(), "try", "/a", func(_ context.Context, _ *live.Session, _ string, ambiguous bool) error {
					got = append(got, ambiguous)
					if n := len(got); n <= len(c.failures) {
						return c.failures[n-1]
					}
					return refusal
				})
				if !errors.Is(err, refusal) || !slices.Equal(got, c.want) {
					t.Errorf("got ambiguous tries %v and %v, want %v and %v", got, err, c.want, refusal)
				}
			})
		})
	}
}
