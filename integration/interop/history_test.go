//go:build linux

package interop_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/interop/godriver"
)

// A hold is the time in which a process believed to hold a lock, and was right in doing so.
type hold struct {
	who, path, node string
	from, to        int64 // CLOCK_MONOTONIC
	seen            int64 // when its node was surely there for the last time
	shared          bool
	lost            bool  // it ended before its release
	thawed          int64 // when its process went on after it had been frozen; 0 if it never was
	looked          int64 // when its process said that it was over
}

func (h hold) String() string {
	return fmt.Sprintf("%s with %s from %.3f to %.3f s, lost: %v, node seen until %.3f s",
		h.who, h.node, float64(h.from)/1e9, float64(h.to)/1e9, h.lost, float64(h.seen)/1e9)
}

// A history collects holds from what drivers tell. A hold of ours ends at its Release or at its ValidUntil, whichever
// is first. One of the others ends at its release or when its node is gone: they are not told, and say so.
type history struct {
	mu     sync.Mutex
	open   map[string]*hold // by who
	closed []hold
	gone   map[string]int64 // when a node was surely there for the last time, by path
	blinds []blind
}

// A blind is a time in which the observer could not look at a directory.
type blind struct {
	path     string
	from, to int64
}

func newHistory() *history { return &history{open: map[string]*hold{}, gone: map[string]int64{}} }

// count is how many holds there have been.
func (h *history) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.closed)
}

// holding reports whether any of them holds something.
func (h *history) holding(whos []string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(whos, func(who string) bool { return h.open[who] != nil })
}

func (h *history) acquired(path string, shared bool, a godriver.Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	node := ""
	if len(a.Nodes) > 0 {
		node = a.Nodes[0]
	}
	h.open[a.Who] = &hold{who: a.Who, path: path, node: node, shared: shared, from: a.Began}
}

// released ends a hold at a time, or at the end of its validity, if that is known.
func (h *history) released(who string, at, valid int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.open[who]
	if one == nil {
		return
	}
	delete(h.open, who)
	one.to, one.looked = at, at
	if valid != 0 && valid < at {
		one.to, one.lost = valid, true
	}
	h.closed = append(h.closed, *one)
}

// thawed notes that a process goes on.
func (h *history) thawed(whos []string, at int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, who := range whos {
		if one := h.open[who]; one != nil {
			one.thawed = at
		}
	}
}

// unlooked says whether a process that was frozen has not told of the end of its hold yet.
func (h *history) unlooked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.open {
		if one.thawed != 0 {
			return true
		}
	}
	return false
}

// sighted is when the node of a hold was there for the last time, at the latest.
func (h *history) sighted(one hold) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	const between = int64(100 * time.Millisecond) // two looks, and more
	for _, b := range h.blinds {
		if b.path == one.path && b.from < one.seen+between && one.seen < b.to {
			return b.to
		}
	}
	return one.seen
}

// died ends the hold of a process that was killed.
func (h *history) died(who string, at int64) { h.released(who, at, 0) }

func (h *history) blinded(path string, from, to int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.blinds = append(h.blinds, blind{path: path, from: from, to: to})
}

// unsure says whether a hold of another library cannot be judged. A zk.Lock that was frozen for longer than its session
// is let in by an event that has waited for it, and finds no node of its own. And a node may have come and gone while
// nobody looked.
func (h *history) unsure(one hold) bool {
	if one.node == "" && strings.HasPrefix(one.who, goZK+"-") {
		return true
	}
	return one.seen == 0 && !strings.HasPrefix(one.who, ours+"-") && slices.ContainsFunc(h.blinds, func(b blind) bool {
		return b.path == one.path && b.from < one.to && one.from < b.to+int64(5*time.Second)
	})
}

func (h *history) vanished(path string, at int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.gone[path]; !ok {
		h.gone[path] = at
	}
}

// mayOutliveItsNode says whether it may be true that a node was gone before the release of its hold. Ours never may.
// The others may if they were frozen: no session ends within half a second after the server has heard of its client.
// Otherwise the observer has only not looked since.
func (h hold) mayOutliveItsNode(gone int64) bool {
	long := int64(500 * time.Millisecond)
	return !strings.HasPrefix(h.who, ours+"-") && (h.to-h.from > long || h.from-gone > long)
}

// holds returns all holds on a path by their beginning, cut where a node was gone before the end. Those that begin
// after their end are left out: a process was frozen between being let in and saying so. So are those that cannot be
// judged.
func (h *history) holds(path string) []hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []hold
	for _, one := range h.closed {
		if one.path != path {
			continue
		}
		gone, ok := h.gone[path+"/"+one.node]
		one.seen = gone
		if ok && gone < one.to && one.mayOutliveItsNode(gone) {
			one.to, one.lost = gone, true
		}
		if one.to > one.from && !h.unsure(one) {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
	return all
}

// overlaps finds holds that exclude each other and are not apart.
func overlaps(holds []hold) (found []string) {
	var anybody, writer hold // the ones that last longest so far
	for _, one := range holds {
		with := writer
		if !one.shared {
			with = anybody
		}
		if one.from < with.to {
			found = append(found, fmt.Sprintf("two hold at once:\n  %v\n  %v", with, one))
		}
		if one.to > anybody.to {
			anybody = one
		}
		if one.to > writer.to && !one.shared {
			writer = one
		}
	}
	return found
}

// disorder finds holds that were let in before others that exclude them and had come before.
func disorder(holds []hold) (found []string) {
	var anybody, writer int64 = -1, -1 // the greatest numbers so far
	for i, one := range holds {
		if one.node == "" || one.lost {
			continue
		}
		if i > 0 && holds[i-1].node == one.node { // Java's latch leads again on the node that it had before a blip
			continue
		}
		n, err := strconv.ParseInt(number(one.node), 10, 32)
		if err != nil {
			found = append(found, fmt.Sprintf("the number of %s: %v", one.node, err))
			continue
		}
		before := writer
		if !one.shared {
			before = anybody
		}
		if n <= before {
			found = append(found, fmt.Sprintf("%v was let in after number %d", one, before))
		}
		anybody = max(anybody, n)
		if !one.shared {
			writer = max(writer, n)
		}
	}
	return found
}

// crowd finds moments at which more than limit hold.
func crowd(holds []hold, limit int) (found []string) {
	var inside []hold
	for _, one := range holds {
		inside = slices.DeleteFunc(inside, func(other hold) bool { return other.to <= one.from })
		inside = append(inside, one)
		if len(inside) > limit {
			found = append(found, fmt.Sprintf("%d hold where %d may: %v", len(inside), limit, inside))
		}
	}
	return found
}

// tally counts holds by path and kind.
func (h *history) tally() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := map[string]int{}
	for _, one := range h.closed {
		counts[last(one.path)+": "+one.who[:strings.LastIndex(one.who, "-")]]++
	}
	return fmt.Sprint(counts)
}

func TestAHistoryIsJudged(t *testing.T) {
	at := func(who string, number int, from, to int64, shared bool) hold {
		return hold{who: who, node: fmt.Sprintf("x-lock-%010d", number), from: from, to: to, shared: shared}
	}
	for _, c := range []struct {
		name                     string
		holds                    []hold
		overlap, unordered, full int
	}{
		{"one after the other", []hold{at("a", 0, 0, 10, false), at("b", 1, 10, 20, false)}, 0, 0, 0},
		{"two writers", []hold{at("a", 0, 0, 10, false), at("b", 1, 9, 20, false)}, 1, 0, 1},
		{"a long one over a short one", []hold{at("a", 0, 0, 30, false), at("b", 1, 30, 31, false), at("c", 2, 30, 40, false)}, 1, 0, 1},
		{"two readers", []hold{at("a", 1, 0, 10, true), at("b", 0, 5, 20, true)}, 0, 0, 1},
		{"a reader beside a writer", []hold{at("a", 0, 0, 10, false), at("b", 1, 5, 20, true)}, 1, 0, 1},
		{"a writer beside a reader", []hold{at("a", 0, 0, 10, true), at("b", 1, 5, 20, false)}, 1, 0, 1},
		{"out of order", []hold{at("a", 1, 0, 10, false), at("b", 0, 10, 20, false)}, 0, 1, 0},
		{"again on the same node", []hold{at("a", 1, 0, 10, false), at("a", 1, 20, 30, false)}, 0, 0, 0},
		{"again behind another one", []hold{at("a", 1, 0, 10, false), at("b", 2, 10, 20, false), at("a", 1, 20, 30, false)}, 0, 1, 0},
		{"a reader past a writer", []hold{at("a", 1, 0, 10, true), at("b", 0, 10, 20, false)}, 0, 1, 0},
	} {
		if got := len(overlaps(c.holds)); got != c.overlap {
			t.Errorf("%s: %d overlaps, want %d", c.name, got, c.overlap)
		}
		if got := len(disorder(c.holds)); got != c.unordered {
			t.Errorf("%s: %d out of order, want %d", c.name, got, c.unordered)
		}
		if got := len(crowd(c.holds, 1)); got != c.full {
			t.Errorf("%s: %d times more than 1, want %d", c.name, got, c.full)
		}
	}
}

func TestAHoldOfAnotherLibraryWithoutANodeIsNotJudged(t *testing.T) {
	h := newHistory()
	for who, node := range map[string]string{goZK + "-1": "", goZK + "-2": "x-lock-0000000001", ours + "-1": "", java + "-1": ""} {
		answer := godriver.Answer{Who: who, Began: 1}
		if node != "" {
			answer.Nodes = []string{node}
		}
		h.acquired("/path", false, answer)
		h.released(who, 10, 0)
	}
	var judged []string
	for _, one := range h.holds("/path") {
		judged = append(judged, one.who)
	}
	slices.Sort(judged)
	want := []string{ours + "-1", java + "-1", goZK + "-2"}
	slices.Sort(want)
	if !slices.Equal(judged, want) {
		t.Errorf("got the holds of %q, want those of %q", judged, want)
	}
}
