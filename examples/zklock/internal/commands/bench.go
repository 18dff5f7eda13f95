package commands

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

const benchHelp = `zklock bench [flags] [PATH]

Measures how fast a mutex changes hands between contenders, each with a
connection of its own, on these servers and this network. It waits behind
whatever else is at the path, and holds the lock for no time, so use a path of
its own: the default is one below /zklock-bench.

Examples:

  zklock bench -zk zk1:2181
  zklock bench -contenders 1 -n 1000     # a lock without rivals
` + statuses

func newBench(set *flag.FlagSet) *looker {
	n := set.Int("n", 200, "acquisitions of each contender")
	contenders := set.Int("contenders", 4, "how many")
	l := &looker{paths: [2]int{0, 1}}
	l.do = func(ctx context.Context, s *scene) error {
		path := "/zklock-bench/" + strconv.Itoa(os.Getpid())
		if len(s.paths) > 0 {
			path = s.paths[0]
		}
		result, err := l.measure(ctx, path, max(*n, 1), max(*contenders, 1))
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(result)
		}
		return s.print(result.String())
	}
	return l
}

// A benchmark is what was measured.
type benchmark struct {
	Path       string  `json:"path"`
	Contenders int     `json:"contenders"`
	Acquired   int     `json:"acquisitions"`
	Seconds    float64 `json:"seconds"`
	Rate       float64 `json:"acquisitions_per_second"`
	Read       float64 `json:"read_ms"` // the median of single reads
	Median     float64 `json:"median_wait_ms"`
	Most       float64 `json:"p99_wait_ms"`
}

func (b benchmark) String() string {
	return fmt.Sprintf("%d contenders at %s: %d acquisitions in %.2fs\n\n%12.0f acquisitions a second\n%12.2f ms median wait\n"+
		"%12.2f ms is not exceeded by 99%%\n%12.2f ms for a read, for comparison\n",
		b.Contenders, b.Path, b.Acquired, b.Seconds, b.Rate, b.Median, b.Most, b.Read)
}

func (l *looker) measure(ctx context.Context, path string, n, contenders int) (b benchmark, err error) {
	var clients []*framework.Client
	defer func() {
		for _, client := range clients {
			_ = client.Close()
		}
	}()
	for range contenders {
		client, err := l.servers.Client(nil)
		if err != nil {
			return b, err
		}
		clients = append(clients, client)
	}
	var mu sync.Mutex
	var waits, reads []float64
	group, ctx := errgroup.WithContext(ctx)
	ready, begin := new(sync.WaitGroup), make(chan struct{})
	for _, client := range clients {
		ready.Add(1)
		group.Go(func() error {
			mutex := locks.NewInterProcessMutex(client, path, locks.WithLockData([]byte("zklock bench")))
			took, err := timed(func() error { _, err := client.Exists(ctx, "/"); return err })
			if err == nil {
				// now that it is connected
				took, err = timed(func() error { _, err := client.Exists(ctx, "/"); return err })
			}
			ready.Done()
			<-begin
			mine := make([]float64, 0, n)
			for range n {
				if err != nil {
					return err
				}
				var lease *locks.Lease
				var wait float64
				if wait, err = timed(func() (err error) { lease, err = mutex.Acquire(ctx); return err }); err == nil {
					mine = append(mine, wait)
					err = lease.Release()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			waits, reads = append(waits, mine...), append(reads, took)
			return err
		})
	}
	ready.Wait()
	began := time.Now()
	close(begin)
	if err := group.Wait(); err != nil {
		return b, err
	}
	took := time.Since(began).Seconds()
	slices.Sort(waits)
	slices.Sort(reads)
	return benchmark{
		path, contenders, len(waits), took, float64(len(waits)) / took,
		reads[len(reads)/2], waits[len(waits)/2], waits[len(waits)*99/100],
	}, nil
}

// timed returns how many milliseconds a call took.
func timed(call func() error) (float64, error) {
	began := time.Now()
	err := call()
	return float64(time.Since(began).Microseconds()) / 1000, err
}
