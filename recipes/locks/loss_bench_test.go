package locks_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// BenchmarkLossOfManyLeases measures how late the holders of 20,000 leases of one client learn that their time is up:
// from the leases' ValidUntil to the moment at which each holder, a goroutine of its own, runs. Holders wait for Done,
// or for a context of their lease.
//
//	go test -run='^$' -bench=LossOfManyLeases -benchtime=5x ./recipes/locks
func BenchmarkLossOfManyLeases(b *testing.B) {
	for name, ended := range map[string]func(context.Context, *locks.Lease) <-chan struct{}{
		"done":    func(_ context.Context, lease *locks.Lease) <-chan struct{} { return lease.Done() },
		"context": func(ctx context.Context, lease *locks.Lease) <-chan struct{} { return lease.Context(ctx).Done() },
	} {
		b.Run(name, func(b *testing.B) {
			const leases = 20_000
			var lateness []time.Duration
			for b.Loop() {
				lateness = append(lateness, loseMany(b, leases, ended)...)
			}
			slices.Sort(lateness)
			ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ms(lateness[len(lateness)/2]), "median-ms")
			b.ReportMetric(ms(lateness[len(lateness)-1]), "last-ms")
		})
	}
}

func loseMany(b *testing.B, leases int, ended func(context.Context, *locks.Lease) <-chan struct{}) []time.Duration {
	b.Helper()
	server := zktest.NewServer()
	defer server.Close()
	link := server.NewLink()
	client, err := framework.NewClient("zktest:2181",
		framework.WithDialer(link.DialContext), framework.WithSessionTimeout(4*time.Second))
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	held := make([]*locks.Lease, leases)
	var acquires sync.WaitGroup
	const workers = 64
	for first := range workers {
		acquires.Go(func() {
			for i := first; i < leases; i += workers {
				lease, err := locks.NewInterProcessMutex(client, fmt.Sprintf("/locks/%d", i)).Acquire(b.Context())
				if err != nil {
					b.Error(err)
					return
				}
				held[i] = lease
			}
		})
	}
	acquires.Wait()
	if b.Failed() {
		b.FailNow()
	}
	told := make([]time.Time, leases)
	var holders sync.WaitGroup
	for i, lease := range held {
		over := ended(b.Context(), lease)
		holders.Go(func() {
			<-over
			told[i] = time.Now()
		})
	}
	time.Sleep(time.Second) // the watches on the nodes are set
	link.Mute()
	holders.Wait()
	lateness := make([]time.Duration, leases)
	for i, lease := range held {
		lateness[i] = told[i].Sub(lease.ValidUntil())
	}
	return lateness
}
