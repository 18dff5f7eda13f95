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

	"github.com/gocurator/curator/integration/interop/godriver"
)

// A hold is the time in which a process believed to hold a lock, and was right in doing so.
type hold struct {
	who, path, node string
	from, to        int64   // CLOCK_MONOTONIC
	removed         removal // how its node was removed; zero if it was not
	shared          bool
	lost            bool  // it ended before its release
	killed          bool  // its process was killed while it lasted
	unconfirmed     bool  // its client reported that no server had answered its release in time
	thawed          int64 // when its process went on after it had been frozen; 0 if it never was
	looked          int64 // when its process said that it was over
}

// A span is an interval in which something happened, it is not known when exactly.
type span struct{ from, to int64 }

// A removal is the removal of a node by the server.
type removal struct {
	span
	by, owner int64 // sessions
}

func (h hold) String() string {
	return fmt.Sprintf("%s with %s from %.3f to %.3f s, lost: %v, node removed at %.3f s",
		h.who, h.node, float64(h.from)/1e9, float64(h.to)/1e9, h.lost, float64(h.removed.from)/1e9)
}

// ours says whether the hold is one of this library.
func (h hold) ours() bool { return strings.HasPrefix(h.who, ours+"-") }

// A history collects holds from what drivers report. A hold of ours ends at its Release or at its ValidUntil, whichever
// is first, or when its process is killed. One of another library ends at the latest when the server removes its node:
// its holder may not know.
type history struct {
	mu      sync.Mutex
	open    map[string]*hold // by who
	closed  []hold
	removed map[string]removal // by path; known once the run is over
}

func newHistory() *history { return &history{open: map[string]*hold{}} }

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
func (h *history) released(who string, at, valid int64) { h.ended(who, at, valid, false) }

// died ends the hold of a process that was killed.
func (h *history) died(who string, at int64) { h.ended(who, at, 0, true) }

func (h *history) ended(who string, at, valid int64, killed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.open[who]
	if one == nil {
		return
	}
	delete(h.open, who)
	one.killed = killed
	one.to, one.looked = at, at
	if valid != 0 && valid < at {
		one.to, one.lost = valid, true
	}
	h.closed = append(h.closed, *one)
}

// failed notes that the release of the newest hold was not confirmed, if reason names its node.
func (h *history) failed(who, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range slices.Backward(h.closed) {
		if one := &h.closed[i]; one.who == who {
			one.unconfirmed = strings.Contains(reason, "removal of node "+one.node)
			return
		}
	}
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

// unlooked reports whether a process that was frozen has not yet reported the end of its hold.
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

// knows takes what the server says of removals.
func (h *history) knows(removed map[string]removal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.removed = removed
}

// holds returns all holds on a path by their beginning. Those of a zk.Lock without a node are left out: one that was
// frozen for longer than its session is let in by an event that has waited for it, and finds no node of its own. So are
// those that have ended before they begin: a process was frozen between being let in and saying so; a Java latch leads
// on a node that it has just deleted; or a hold was shorter than the millisecond by which removals are known.
func (h *history) holds(path string) []hold {
	all, _ := h.judged(path)
	return all
}

// judged is holds, and those that were left out.
func (h *history) judged(path string) (all, out []hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.closed {
		if one.path != path {
			continue
		}
		if removed, ok := h.removed[path+"/"+one.node]; ok {
			one.removed = removed
			if !one.ours() || one.killed && removed.to < one.from { // killed before it said that its lease had ended
				one.lost = one.lost || removed.to < one.to
				one.to = min(one.to, removed.from)
			}
		}
		if one.to > one.from && (one.node != "" || !strings.HasPrefix(one.who, goZK+"-")) {
			all = append(all, one)
		} else {
			out = append(out, one)
		}
	}
	slices.SortFunc(all, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
	return all, out
}

// unjudged finds that more holds were left out than chance explains, and holds that have not ended.
func (h *history) unjudged(path string) (found []string) {
	all, out := h.judged(path)
	if len(out) > 3+len(all)/20 {
		found = append(found, fmt.Sprintf("%d holds cannot be judged, and %d can: %v", len(out), len(all), out[:3]))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.open {
		if one.path == path {
			found = append(found, fmt.Sprintf("%s has begun at %.3f s and has not ended", one.who, float64(one.from)/1e9))
		}
	}
	return found
}

// robbed finds holds of others whose nodes a session of ours has removed: one to which the node of a hold of ours
// belonged.
func (h *history) robbed(path string) (found []string) {
	h.mu.Lock()
	own := map[int64]bool{}
	for _, one := range h.closed {
		if r, ok := h.removed[one.path+"/"+one.node]; ok && one.ours() && r.owner != 0 {
			own[r.owner] = true
		}
	}
	h.mu.Unlock()
	all, out := h.judged(path)
	for _, one := range append(all, out...) {
		if !one.ours() && own[one.removed.by] {
			found = append(found, fmt.Sprintf("a session of ours has removed the node of %v", one))
		}
	}
	return found
}

// outliving finds holds of ours that go on when their nodes are gone, and nodes that the server has not removed though
// all holds have ended.
func outliving(holds []hold) (found []string) {
	for _, one := range holds {
		switch {
		case one.removed.to == 0:
			found = append(found, fmt.Sprintf("the server has not removed the node of %v", one))
		case one.removed.to < one.to: // no other hold is longer: see judged
			found = append(found, fmt.Sprintf("it outlives its node: %v", one))
		}
	}
	return found
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
			found = append(found, fmt.Sprintf("two hold at once: %v; and %v", with, one))
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

// Each history has one hold, from 10 to 50.
func TestAHoldEndsAtItsRemovalUnlessItIsOneOfOurs(t *testing.T) {
	const never = -1
	for _, c := range []struct {
		name, who string
		valid     int64
		killed    bool
		removed   span
		to        int64 // never: it is left out
		lost      bool
		problems  int
	}{
		{"ours, released before", ours, 0, false, span{60, 61}, 50, false, 0},
		{"ours, released in the same instant", ours, 0, false, span{49, 51}, 50, false, 0},
		{"ours, outliving its node", ours, 0, false, span{40, 41}, 50, false, 1},
		{"ours, that ended before", ours, 30, false, span{40, 41}, 30, true, 0},
		{"ours, killed with its node there", ours, 0, true, span{60, 61}, 50, false, 0},
		{"ours, killed with its node gone", ours, 0, true, span{40, 41}, 50, false, 1},
		{"ours, killed, let in when its node was gone", ours, 0, true, span{8, 9}, never, false, 0},
		{"another, killed with its node gone", java, 0, true, span{40, 41}, 40, true, 0},
		{"another, released before", java, 0, false, span{60, 61}, 50, false, 0},
		{"another, released in the same instant", java, 0, false, span{49, 51}, 49, false, 0},
		{"another, outliving its node", java, 0, false, span{40, 41}, 40, true, 0},
		{"another, let in when its node was gone", java, 0, false, span{9, 10}, never, false, 0},
		{"a node that was not removed", java, 0, false, span{}, 50, false, 1},
	} {
		h := newHistory()
		who := c.who + "-1"
		h.acquired("/path", false, godriver.Answer{Who: who, Began: 10, Nodes: []string{"x-lock-0000000001"}})
		if c.killed {
			h.died(who, 50)
		} else {
			h.released(who, 50, c.valid)
		}
		removed := map[string]removal{"/path/x-lock-0000000001": {span: c.removed}}
		if c.removed == (span{}) {
			removed = nil
		}
		h.knows(removed)
		holds := h.holds("/path")
		switch {
		case c.to == never && len(holds) != 0:
			t.Errorf("%s: got %v, want none", c.name, holds)
		case c.to != never && (len(holds) != 1 || holds[0].to != c.to || holds[0].lost != c.lost):
			t.Errorf("%s: got %v, want one until %d, lost: %v", c.name, holds, c.to, c.lost)
		}
		if got := outliving(holds); len(got) != c.problems {
			t.Errorf("%s: got the problems %q, want %d", c.name, got, c.problems)
		}
	}
}

// Two contenders of Java's and one of ours take turns; each hold lasts from 10i to 10i+5.
func TestAHistoryTellsWhoRemovesNodesAndWhatIsNotJudged(t *testing.T) {
	const our, javas = 1, 2 // sessions
	for _, c := range []struct {
		name             string
		by               int64 // what removes the nodes of Java's
		early            bool  // it removes them before they hold
		open             bool  // one has not ended
		robbed, unjudged int
	}{
		{"all is well", javas, false, false, 0, 0},
		{"ours removes those of others", our, false, false, 20, 0},
		{"the nodes are always the ones before", javas, true, false, 0, 1},
		{"one has not ended", javas, false, true, 0, 1},
	} {
		h := newHistory()
		removed := map[string]removal{}
		for i := range int64(30) {
			who, r := java+"-1", removal{span: span{10*i + 6, 10*i + 7}, by: c.by, owner: javas}
			if i%3 == 0 {
				who, r.by, r.owner = ours+"-1", our, our
			} else if c.early {
				r.span = span{1, 2}
			}
			node := fmt.Sprintf("x-lock-%010d", i)
			h.acquired("/path", false, godriver.Answer{Who: who, Began: 10 * i, Nodes: []string{node}})
			h.released(who, 10*i+5, 0)
			removed["/path/"+node] = r
		}
		if c.open {
			h.acquired("/path", false, godriver.Answer{Who: java + "-2", Began: 400, Nodes: []string{"x-lock-0000000040"}})
		}
		h.knows(removed)
		if got := h.robbed("/path"); len(got) != c.robbed {
			t.Errorf("%s: got %d robbed, want %d: %q", c.name, len(got), c.robbed, got)
		}
		if got := h.unjudged("/path"); len(got) != c.unjudged {
			t.Errorf("%s: got %d not judged, want %d: %q", c.name, len(got), c.unjudged, got)
		}
	}
}

func TestAHoldOfAZkLockWithoutANodeIsNotJudged(t *testing.T) {
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
