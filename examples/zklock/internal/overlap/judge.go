package overlap

import (
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/examples/zklock/holds/records"
)

// decide says of two holds whether they overlapped.
func decide(a, b *Hold) Verdict {
	switch {
	case a.endedBefore() <= b.beganAfter(), b.endedBefore() <= a.beganAfter():
		return Apart
	case a.beganBefore() <= b.endedAfter() && b.beganBefore() <= a.endedAfter():
		return Overlapped
	case inTurn(a, b), inTurn(b, a):
		return Apart
	default:
		return Unknown
	}
}

// inTurn reports whether one process has recorded, by its one clock, that a ended before b began. A begin without a
// session was not recorded: its time may be too late.
func inTurn(a, b *Hold) bool {
	return a.Process != "" && a.Process == b.Process && b.Session != 0 && a.hasEnd() && b.isTimed() && !b.Begin.Time.Before(a.End.Time)
}

// hasEnd reports whether the record has the time at which the hold ended. One that lasted when its recorder was closed
// may have lasted for any time.
func (h *Hold) hasEnd() bool { return h.isTimed() && h.How != records.Open }

// isTimed reports whether the record has its times.
func (h *Hold) isTimed() bool { return !h.Begin.Time.IsZero() && !h.End.Time.IsZero() }

// clocks is what the clocks say of two holds, which is no proof unless they are one.
func clocks(a, b *Hold) string {
	if !a.isTimed() || !b.isTimed() {
		return "a time is not known, so their clocks say nothing"
	}
	if !a.hasEnd() || !b.hasEnd() {
		return "a hold lasted when its recorder was closed, so their clocks say nothing"
	}
	if b.Begin.Time.Before(a.Begin.Time) {
		a, b = b, a
	}
	gap := b.Begin.Time.Sub(a.End.Time).Round(time.Millisecond)
	if gap >= 0 {
		return fmt.Sprintf("by their own clocks the one ended %v before the other began: they did not overlap if the clocks differ by less", gap)
	}
	overlap := min(-gap, b.End.Time.Sub(b.Begin.Time).Round(time.Millisecond))
	return fmt.Sprintf("by their own clocks they overlapped for %v: they did unless the clocks differ by as much as %v", overlap, -gap)
}

// mostOpen bounds how many holds are compared with each that follows.
const mostOpen = 1000

const (
	// mostCounted is how many overlaps are counted, about.
	mostCounted = 100_000
	// mostCompared is how many pairs are compared, about: that takes some seconds, and up to 20 on a busy machine.
	mostCompared = 1_000_000_000
)

// isOver reports whether a ended before b and all later ones began. No clock says that: the order of holds is that in
// which they can have begun, and a later one can have begun before b.
func isOver(a, b *Hold) bool { return a.endedBefore() <= b.beganAfter() }

// isSettled reports whether nothing more is to be said of a: that its end is not known has been reported, and nothing
// proves that it lasted until b or a later one began.
func isSettled(a, b *Hold) bool { return a.unclear && a.endedAfter() < b.beganAfter() }

// isEnough reports whether so much was found or compared that the rest is left out. It says so in the second case: in
// the first, the verdict is known.
func (j *judge) isEnough(b *Hold) bool {
	if j.compared > j.mostCompared && j.Overlaps < mostCounted {
		j.report(Unknown, func() string {
			return "too many holds may have lasted at one time: this one and later ones are not compared"
		}, b)
	}
	return j.compared > j.mostCompared || j.Overlaps >= mostCounted
}

// exclude judges holds that exclude each other, in the order in which they can have begun.
func (j *judge) exclude(holds []*Hold) {
	var shared, exclusive []*Hold
	for _, b := range holds {
		if j.isEnough(b) {
			return
		}
		exclusive = j.compare(exclusive, b)
		if b.kind.Shared() {
			shared = j.bounded(append(shared, b), b)
			continue
		}
		shared = j.compare(shared, b)
		exclusive = j.bounded(append(exclusive, b), b)
	}
}

// compare judges b and each earlier hold that may last, and returns those to compare with later ones. An unknown end
// is reported once for a hold, with the first exclusive one that follows: if it did not overlap that one, it did
// not overlap those after it.
func (j *judge) compare(earlier []*Hold, b *Hold) []*Hold {
	kept := earlier[:0]
	j.compared += len(earlier)
	for _, a := range earlier {
		verdict := decide(a, b)
		switch {
		case becameReader(a, b), becameReader(b, a):
			// a writer, and the reader that it became
		case verdict == Overlapped:
			j.report(Overlapped, func() string { return overlapWhy(a, b) }, a, b)
		case verdict == Unknown && !a.unclear:
			j.report(Unknown, func() string { return clocks(a, b) }, a, b)
			a.unclear = !b.kind.Shared()
		}
		if !isOver(a, b) && !isSettled(a, b) {
			kept = append(kept, a)
		}
	}
	return kept
}

// becameReader reports whether r is the hold of a reader in the place of the writer w, and w began before r did. The
// first hold of the writer's node did; of others the clock of the process says that.
func becameReader(w, r *Hold) bool {
	if w.kind.Shared() || !r.kind.Shared() || w.token != r.token || w.Session != r.Session || w.Session == 0 {
		return false
	}
	return w.Count == 0 || w.Process != "" && w.Process == r.Process && w.isTimed() && r.isTimed() && !r.Begin.Time.Before(w.Begin.Time)
}

// bounded cuts a list that is too long: what is left out could be compared with later ones.
func (j *judge) bounded(list []*Hold, now *Hold) []*Hold {
	if len(list) <= mostOpen {
		return list
	}
	list = slices.DeleteFunc(list, func(a *Hold) bool { return a.endedBefore() <= now.beganAfter() })
	if cut := len(list) - mostOpen; cut > 0 {
		j.report(Unknown, func() string {
			return fmt.Sprintf("more than %d holds may have lasted when this one began: the oldest is not compared with it", mostOpen)
		}, list[0], now)
		list = list[cut:]
	}
	return list
}

func overlapWhy(a, b *Hold) string {
	return fmt.Sprintf("each began before a transaction that the other's client had seen when that ended: before %d, where %d was seen, and before %d, where %d was",
		a.beganBefore(), b.endedAfter(), b.beganBefore(), a.endedAfter())
}

// count judges a semaphore's leases: more than the limit at one time.
func (j *judge) count(holds []*Hold, limit int, known bool) {
	if len(holds) > 0 && !known {
		j.report(Unknown, func() string { return "the limit of the semaphore is not known: say it with -limit" })
		return
	}
	var open []*Hold
	for _, b := range holds {
		if j.isEnough(b) {
			return
		}
		open = slices.DeleteFunc(open, func(a *Hold) bool { return isOver(a, b) || isSettled(a, b) })
		j.crowd(open, b, limit)
		open = j.bounded(append(open, b), b)
	}
}

// crowd judges a lease and those that may have lasted when it began. Holds of which each two overlapped were all held
// at one time: they are intervals.
func (j *judge) crowd(open []*Hold, b *Hold, limit int) {
	sure, perhaps := []*Hold{b}, []*Hold{b}
	for _, a := range open {
		j.compared += 1 + len(sure)
		verdict := decide(a, b)
		if verdict != Apart && !a.unclear {
			perhaps = append(perhaps, a)
		}
		if verdict == Overlapped && len(sure) <= limit && !slices.ContainsFunc(sure, func(other *Hold) bool { return decide(a, other) != Overlapped }) {
			sure = append(sure, a)
		}
	}
	switch {
	case len(sure) > limit:
		j.report(Overlapped, func() string {
			return fmt.Sprintf("of these %d each two overlapped, and the limit is %d", len(sure), limit)
		}, sure...)
	case len(perhaps) > limit:
		j.report(Unknown, func() string {
			return fmt.Sprintf("%d leases may have been held at one time, and the limit is %d", len(perhaps), limit)
		}, perhaps[:min(len(perhaps), limit+1)]...)
		for _, a := range perhaps {
			a.unclear = a.endedBefore() == never
		}
	}
}
