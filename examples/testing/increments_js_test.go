// On systems other than js this test, which is wrong on purpose, does not exist: it would fail now and then.

package testing_test

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestNoIncrementIsLost(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		network := zktest.New(t).NewLink()
		network.SetLatency(5 * time.Millisecond)
		client, err := framework.NewClient("any:2181", framework.WithDialer(network.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if _, _, err := client.Create(t.Context(), "/jobs", []byte("0")); err != nil {
			t.Fatal(err)
		}
		var workers sync.WaitGroup
		for range 2 {
			workers.Go(func() {
				time.Sleep(rand.N(time.Second)) // a job
				data, _, _ := client.Get(t.Context(), "/jobs")
				jobs, _ := strconv.Atoi(string(data))
				_, _ = client.Set(t.Context(), "/jobs", []byte(strconv.Itoa(jobs+1)), -1) // without a lock
			})
		}
		workers.Wait()
		if data, _, _ := client.Get(t.Context(), "/jobs"); string(data) != "2" {
			t.Errorf("got %s jobs, want 2", data)
		}
	})
}
