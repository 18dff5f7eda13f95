package caches_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/bench/caches"
)

// With a latency all reads of one moment are under way together.
func TestWireCountsReadsUnderWayAndTimesTransactions(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		link := srv.NewLink()
		wire := caches.NewWire(link.DialContext)
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(wire.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		link.SetLatency(50 * time.Millisecond)
		for lap, want := range []int{7, 3, 0} {
			var all sync.WaitGroup
			for range want {
				all.Go(func() {
					_, _, err1 := client.Get(t.Context(), "/")
					_, _, err2 := client.Children(t.Context(), "/")
					if err := errors.Join(err1, err2); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if _, err := client.Transaction(t.Context(), framework.CheckOp("/", -1)); err != nil {
				t.Fatal(err)
			}
			got := wire.Lap()
			if got.Reads != want || len(got.Renewals) != 1 || got.Renewals[0] != 100*time.Millisecond {
				t.Errorf("lap %d: got %+v, want %d reads and one transaction of 100ms", lap, got, want)
			}
		}
	})
}

func TestWireForgetsWhatACutMet(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		wire := caches.NewWire(srv.DialContext)
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(wire.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		release := srv.HoldRequest(zktest.Match{Op: zktest.OpGetData})
		defer release()
		read := make(chan error)
		go func() {
			_, _, err := client.Get(t.Context(), "/")
			read <- err
		}()
		time.Sleep(time.Second)
		wire.Cut()
		if err := <-read; err != nil {
			t.Fatal(err)
		}
		if got := wire.Lap(); got.Reads != 1 {
			t.Errorf("got %+v, want 1 read: the second was sent after the cut", got)
		}
		if got := wire.Lap(); got.Reads != 0 || wire.Changes() != 3 {
			t.Errorf("got %+v and %d changes, want no read, and 3: two connections and a cut", got, wire.Changes())
		}
	})
}
