package overlap

import (
	"slices"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
)

// endBeforeLater bounds the ends of holds by later holds of the same process: by its one clock a hold ended before the
// other began, and that was before the other's node was deleted. What a client had seen when its hold ended is believed
// rather than its clock.
func endBeforeLater(holds map[history.Family][]*Hold) {
	of := map[string][]*Hold{}
	for _, list := range holds {
		for _, h := range list {
			if h.Process != "" && h.isTimed() {
				of[h.Process] = append(of[h.Process], h)
			}
		}
	}
	for _, list := range of {
		slices.SortStableFunc(list, func(a, b *Hold) int { return a.Begin.Time.Compare(b.Begin.Time) })
		least := make([]int64, len(list)+1) // the first deletion of a node of this hold or a later one
		least[len(list)] = never
		for i, h := range slices.Backward(list) {
			least[i] = least[i+1]
			if h.Session != 0 { // else the begin was not recorded, and its time may be too late
				least[i] = min(least[i], h.beganBefore())
			}
		}
		for _, h := range list {
			if !h.hasEnd() {
				continue
			}
			later, _ := slices.BinarySearchFunc(list, h.End.Time, func(b *Hold, end time.Time) int {
				if b.Begin.Time.After(end) {
					return 1
				}
				return -1
			})
			if by := least[later]; by < h.endedBefore() && by > h.endedAfter() {
				h.Bounds[3] = by
			}
		}
	}
}
