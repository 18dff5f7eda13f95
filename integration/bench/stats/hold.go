package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/gocurator/curator/integration/bench/job"
)

// A Hold is one acquisition of a lock, in nanoseconds from the beginning of the window.
type Hold struct {
	Worker    int
	Called    int64 // acquire was called
	Acquired  int64 // acquire returned
	Releasing int64 // release was called
	Released  int64 // release returned
	Wrote     bool
}

// Merge returns the holds of all workers in the order in which they began, up to the first that a worker has not
// written down. Acquisitions after the end of the window are among them: those who got them had begun to wait in it.
func Merge(workers []job.Worker) []Hold {
	var holds []Hold
	until := int64(math.MaxInt64)
	for _, w := range workers {
		if w.Full > 0 {
			until = min(until, w.Full)
		}
		for s := range slices.Chunk(w.Stamps, job.Stamped) {
			holds = append(holds, Hold{w.Number, s[0], s[1], s[2], s[3], s[4] != 0})
		}
	}
	holds = slices.DeleteFunc(holds, func(h Hold) bool { return h.Acquired >= until })
	slices.SortStableFunc(holds, func(a, b Hold) int { return cmp.Compare(a.Acquired, b.Acquired) })
	return holds
}

// Overlaps counts the holds that began while there was no room for them. A lock has room for a number of holds, and one
// that wrote takes all of it if writers are alone. A hold lasts from the return of acquire to the call of release, so
// what overlaps by these was held twice for certain.
func Overlaps(holds []Hold, room int, writersAlone bool) int {
	type edge struct {
		at, takes int64
	}
	var edges []edge
	for _, h := range holds {
		takes := int64(1)
		if h.Wrote && writersAlone {
			takes = int64(room)
		}
		edges = append(edges, edge{h.Acquired, takes}, edge{h.Releasing, -takes})
	}
	slices.SortFunc(edges, func(a, b edge) int { // who leaves does so before who comes
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.takes, b.takes))
	})
	overlaps, taken := 0, int64(0)
	for _, e := range edges {
		taken += e.takes
		if e.takes > 0 && taken > int64(room) {
			overlaps++
		}
	}
	return overlaps
}

// HandOvers returns how long each passing of an exclusive lock from one worker to another took, from the call of
// release to the return of acquire, and what share of the acquisitions went to the worker that had held it just before.
func HandOvers(holds []Hold) (took []float64, same float64) {
	again := 0
	for i := 1; i < len(holds); i++ {
		before, next := holds[i-1], holds[i]
		if before.Worker == next.Worker {
			again++
			continue
		}
		took = append(took, float64(next.Acquired-before.Releasing))
	}
	return took, float64(again) / float64(max(1, len(holds)-1))
}
