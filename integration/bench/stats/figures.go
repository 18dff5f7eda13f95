package stats

import (
	"slices"
	"sort"
	"time"

	"github.com/gocurator/curator/integration/bench/job"
)

// Figures are what one run comes to. Times are microseconds. A figure that a run does not have is -1.
type Figures struct {
	Acquisitions int64   `json:"acquisitions"`
	Errors       int64   `json:"errors"`
	Error        string  `json:"error,omitempty"` // the first of them
	Overlaps     int     `json:"overlaps"`        // holds that began while there was no room for them
	Rate         float64 `json:"rate"`            // acquisitions a second
	CycleP50     float64 `json:"cycle_p50"`       // from the call of acquire to the return of release
	CycleP99     float64 `json:"cycle_p99"`
	HandOverP50  float64 `json:"hand_over_p50"` // from the call of release to the return of another worker's acquire
	HandOverP99  float64 `json:"hand_over_p99"`
	Same         float64 `json:"same"`     // share of acquisitions by the worker that held the lock just before
	WaitP50      float64 `json:"wait_p50"` // from the call of acquire to its return
	WaitP99      float64 `json:"wait_p99"`
	WaitMax      float64 `json:"wait_max"`
	Most         int64   `json:"most"` // acquisitions of the worker that had most, and of the one that had fewest
	Fewest       int64   `json:"fewest"`
	Requests     float64 `json:"requests"` // to ZooKeeper, for each acquisition
	Events       float64 `json:"events"`   // from it
	Syncs        float64 `json:"syncs"`    // Syncs of its log, for each acquisition
	ClientCPU    float64 `json:"client_cpu"`
	ServerCPU    float64 `json:"server_cpu"`
	Foreign      float64 `json:"foreign"` // share of the machine's processors that others used
	Tries        int     `json:"tries"`   // runs that it took until others used little; the last one counts
}

// Rules say how the holds of a lock may overlap.
type Rules struct {
	Own          bool // each worker has a lock of its own
	Room         int
	WritersAlone bool
}

// Of makes the figures that come from the workers.
func Of(workers []job.Worker, window time.Duration, rules Rules) Figures {
	f := Figures{Fewest: -1, HandOverP50: -1, HandOverP99: -1, Same: -1, Requests: -1, Events: -1, Syncs: -1, ClientCPU: -1, ServerCPU: -1}
	for _, w := range workers {
		f.Acquisitions += w.Acquired
		f.Errors += w.Errors
		if f.Error == "" {
			f.Error = w.Error
		}
		f.Most = max(f.Most, w.Acquired)
		if f.Fewest < 0 || w.Acquired < f.Fewest {
			f.Fewest = w.Acquired
		}
	}
	f.Rate = float64(f.Acquisitions) / window.Seconds()

	holds := Merge(workers)
	var cycles, waits []float64
	for _, h := range holds {
		// A wait that the window's end cut off counts for as long as it had lasted: left out, those who starve would
		// not show.
		waits = append(waits, float64(min(h.Acquired, int64(window))-h.Called))
		if h.Acquired < int64(window) {
			cycles = append(cycles, float64(h.Released-h.Called))
		}
	}
	f.WaitP50, f.WaitP99 = micros(waits)
	if f.WaitMax = -1; len(waits) > 0 {
		f.WaitMax = slices.Max(waits) / 1e3
	}
	f.CycleP50, f.CycleP99 = micros(cycles)
	if rules.Own {
		for _, w := range workers {
			f.Overlaps += Overlaps(Merge([]job.Worker{w}), 1, false)
		}
		return f
	}
	f.Overlaps = Overlaps(holds, rules.Room, rules.WritersAlone)
	if rules.Room == 1 && len(workers) > 1 {
		inside := sort.Search(len(holds), func(i int) bool { return holds[i].Acquired >= int64(window) })
		took, same := HandOvers(holds[:inside])
		f.HandOverP50, f.HandOverP99 = micros(took)
		f.Same = same
	}
	return f
}

func micros(nanos []float64) (p50, p99 float64) {
	if len(nanos) == 0 {
		return -1, -1
	}
	return Quantile(nanos, 0.5) / 1e3, Quantile(nanos, 0.99) / 1e3
}
