package run

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// An aging lease is valid until some time, and is renewed at another one.
type aging struct {
	until, renewedAt, renewedUntil time.Time
	done                           chan struct{}
}

func (a aging) Done() <-chan struct{} { return a.done }

func (a aging) ValidUntil() time.Time {
	if time.Now().Before(a.renewedAt) {
		return a.until
	}
	return a.renewedUntil
}

// After an outage a lease is valid for less than its command needs, until it is renewed.
func TestACommandWaitsForALeaseThatIsAboutToEnd(t *testing.T) {
	const timeout = 32 * time.Second
	p, err := newPlan(timeout, -1, -1) // 4 s and 1 s
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.room(timeout), 13*time.Second; got != want {
		t.Errorf("got room for %v, want %v", got, want)
	}
	for _, tt := range []struct {
		name           string
		valid          time.Duration // from the beginning
		renewed, reach time.Duration // when, and until when
		lost, ended    time.Duration // the lease, ctx; when
		want           time.Duration
	}{
		{name: "a lease that lasts", valid: 13 * time.Second, want: 0},
		{name: "renewed before long", valid: 4 * time.Second, renewed: 2 * time.Second, reach: 30 * time.Second, want: 2 * time.Second},
		{name: "renewed for too little", valid: 4 * time.Second, renewed: 2 * time.Second, reach: 10 * time.Second, want: 16 * time.Second},
		{name: "lost", valid: 4 * time.Second, renewed: time.Hour, lost: 3 * time.Second, want: 3 * time.Second},
		{name: "a signal", valid: 4 * time.Second, renewed: time.Hour, ended: 3 * time.Second, want: 3 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				begun := time.Now()
				lease := aging{begun.Add(tt.valid), begun.Add(tt.renewed), begun.Add(tt.reach), make(chan struct{})}
				if tt.renewed == 0 {
					lease.renewedUntil = lease.until
				}
				if tt.lost > 0 {
					defer time.AfterFunc(tt.lost, func() { close(lease.done) }).Stop()
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.ended > 0 {
					defer time.AfterFunc(tt.ended, cancel).Stop()
				}
				settle(ctx, lease, p.room(timeout), timeout/2)
				// it looks now and then
				if got := time.Since(begun); got < tt.want || got > tt.want+p.room(timeout)/64 {
					t.Errorf("got a wait of %v, want %v", got, tt.want)
				}
			})
		})
	}
}
