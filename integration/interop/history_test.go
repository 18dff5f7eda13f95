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

// A hold is the time in which somebody believed to hold a mutex, and was right in doing so.
type hold struct {
	who, path, node string
	from, to        int64 // CLOCK_MONOTONIC
	lost            bool  // it ended before its release
}

func (h hold) String() string {
	return fmt.Sprintf("%s with %s from %.3f to %.3f s", h.who, h.node, float64(h.from)/1e9, float64(h.to)/1e9)
}

// A history collects holds from what drivers tell. A hold of ours ends at its Release or at its ValidUntil, whichever is
// first. One of the others ends at its release or when its node is gone: they are not told, and say so.
type history struct {
	mu     sync.Mutex
	open   map[string]*hold // by who
	closed []hold
	gone   map[string]int64 // when a node was seen to be gone, by path
}

// observerDelay is how much later than the server the observer may notice that a node is gone.
const observerDelay = 250 * time.Millisecond

func newHistory() *history { return &history{open: map[string]*hold{}, gone: map[string]int64{}} }

// count is how many holds there have been.
func (h *history) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.closed)
}

func (h *history) acquired(path string, a godriver.Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	node := ""
	if len(a.Nodes) > 0 {
		node = a.Nodes[0]
	}
	h.open[a.Who] = &hold{who: a.Who, path: path, node: node, from: a.Began}
}

// released ends a hold at a time, or at the end of its validity.
func (h *history) released(who string, at, valid int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.open[who]
	if one == nil {
		return
	}
	delete(h.open, who)
	one.to = at
	if valid != 0 && valid < at {
		one.to, one.lost = valid, true
	}
	h.closed = append(h.closed, *one)
}

// died ends the holds of somebody whose process was killed.
func (h *history) died(who string, at int64) { h.released(who, at, 0) }

func (h *history) vanished(path string, at int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.gone[path]; !ok {
		h.gone[path] = at
	}
}

// holds returns all holds on a path by their beginning, cut where a node was gone before the end. Those that begin after
// their end are left out: somebody was frozen between being let in and saying so.
func (h *history) holds(path string) []hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []hold
	for _, one := range h.closed {
		if one.path != path {
			continue
		}
		if gone, ok := h.gone[path+"/"+one.node]; ok && gone-int64(observerDelay) < one.to && gone < one.to {
			one.to, one.lost = gone-int64(observerDelay), true
		}
		if one.to > one.from {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
	return all
}

// check fails the test for holds that overlap or are out of order, and returns how many were lost.
func (h *history) check(t testing.TB, path string) (lost int) {
	t.Helper()
	var before hold
	number := int64(-1)
	for _, one := range h.holds(path) {
		if one.from < before.to {
			t.Errorf("two hold %s:\n  %v\n  %v", path, before, one)
		}
		if one.to > before.to {
			before = one
		}
		if one.lost {
			lost++
			continue
		}
		if one.node == "" {
			continue
		}
		n, err := strconv.ParseInt(one.node[len(one.node)-10:], 10, 32)
		if err != nil {
			t.Errorf("the number of %s: %v", one.node, err)
		}
		if n <= number {
			t.Errorf("%s: %v came in after number %d", path, one, number)
		}
		number = n
	}
	return lost
}

// tally counts holds by kind.
func (h *history) tally() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := map[string]int{}
	for _, one := range h.closed {
		kind := one.who[:strings.LastIndex(one.who, "-")]
		counts[last(one.path)+": "+kind]++
	}
	return fmt.Sprint(counts)
}
