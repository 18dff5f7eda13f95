//go:build linux

package soak_test

import (
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/zookeeper"
)

// collect frees all that can be freed; what pools hold goes with the second collection.
func collect() {
	debug.FreeOSMemory()
	debug.FreeOSMemory()
}

// A sample is what was found at a settled moment.
type sample struct {
	at time.Duration
	counts
	memory
}

// A history is what a soak has found.
type history struct {
	samples   []sample
	steps     map[string]int64
	failures  string
	disturbed int
}

// A curve is one figure at all settled moments. Slack is by how much its median of the last quarter may exceed that of
// the second; the first quarter is left out, in which tables and pools reach their size.
type curve struct {
	name   string
	values []float64
	slack  func(before float64) float64
}

func (h *history) curves() []curve {
	equal := func(float64) float64 { return 0 }
	heap := curve{name: "heap in use, MB", slack: func(before float64) float64 { return 0.1 + before/20 }}
	resident := curve{name: "resident memory, MB", slack: func(before float64) float64 { return 1 + before/20 }}
	var all []curve
	for _, name := range figureNames {
		all = append(all, curve{name: name, slack: equal})
	}
	for _, s := range h.samples {
		for i := range all {
			all[i].values = append(all[i].values, float64(s.counts[i]))
		}
		heap.values, resident.values = append(heap.values, s.heap), append(resident.values, s.resident)
	}
	return append(all, heap, resident)
}

// quarter returns the median of a quarter of the values: 0 is the first.
func (c curve) quarter(q int) float64 {
	n := len(c.values)
	part := slices.Sorted(slices.Values(c.values[n*q/4 : max(n*(q+1)/4, n*q/4+1)]))
	return part[len(part)/2]
}

// growth says how far the curve has grown beyond its slack, "" if it has not.
func (c curve) growth() string {
	before, after := c.quarter(1), c.quarter(3)
	if most := before + c.slack(before); after > most {
		return fmt.Sprintf("%s: got a median of %.2f in the last quarter, want at most %.2f after %.2f in the second", c.name, after, most, before)
	}
	return ""
}

// growth lists what has grown. A short run has too few moments to judge.
func (h *history) growth() (all []string) {
	if len(h.samples) < 8 {
		return nil
	}
	for _, c := range h.curves() {
		if growth := c.growth(); growth != "" {
			all = append(all, growth)
		}
	}
	return all
}

// text is the report.
func (h *history) text() string {
	var text strings.Builder
	last := h.samples[len(h.samples)-1].at
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	fmt.Fprintf(&text, "%s, three servers of ZooKeeper %s, %d clients; %d resets of links, ended sessions and restarts;\n"+
		"%d s of processor time without the servers'. %d settled moments in %v.\n"+
		"Medians of the quarters of that time; the last may exceed the second by the slack.\n\n",
		runtime.Version(), zookeeper.Version(), clients, h.disturbed, used.Utime.Sec+used.Stime.Sec, len(h.samples), last.Round(time.Second))
	fmt.Fprintf(&text, "%-32s%9s%9s%9s%9s%9s%9s%9s\n", "", "1st", "2nd", "3rd", "4th", "least", "most", "slack")
	for _, c := range h.curves() {
		fmt.Fprintf(&text, "%-32s", c.name)
		for q := range 4 {
			fmt.Fprintf(&text, "%9.2f", c.quarter(q))
		}
		fmt.Fprintf(&text, "%9.2f%9.2f%9.2f\n", slices.Min(c.values), slices.Max(c.values), c.slack(c.quarter(1)))
	}
	text.WriteString("\nSteps that were done:\n")
	var sum int64
	for _, name := range slices.Sorted(maps.Keys(h.steps)) {
		sum += h.steps[name]
		fmt.Fprintf(&text, "%8d  %s\n", h.steps[name], name)
	}
	fmt.Fprintf(&text, "%8d  together\n\nSteps that failed, by what the servers or links did:\n%s", sum, h.failures)
	return text.String()
}

func TestCurveThatGrowsIsNamed(t *testing.T) {
	slack := func(before float64) float64 { return before / 10 }
	for _, c := range []struct {
		name   string
		values []float64
		grows  bool
	}{
		{"flat", []float64{9, 9, 9, 9, 9, 9, 9, 9}, false},
		{"warm after the first quarter", []float64{1, 5, 9, 9, 9, 9, 9, 9}, false},
		{"one outlier", []float64{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 50, 9}, false},
		{"noise within the slack", []float64{10, 9, 10, 9, 10, 10, 9, 10}, false},
		{"a slow slope", []float64{1, 2, 3, 4, 5, 6, 7, 8}, true},
		{"a step at the end", []float64{9, 9, 9, 9, 9, 9, 10, 10}, true},
	} {
		growth := curve{name: "the figure", values: c.values, slack: slack}.growth()
		if got := growth != ""; got != c.grows || got && !strings.HasPrefix(growth, "the figure: got ") {
			t.Errorf("%s: got %q, want a growth: %t", c.name, growth, c.grows)
		}
	}
}
