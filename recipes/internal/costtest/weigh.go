package costtest

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// Weights are rows of the page's table of memory, by recipe and name: "locks.InterProcessMutex: a held lock". A
// function makes the thing with a number, and returns what keeps it. Nothing must be left to the test's Cleanup, which
// keeps it, too.
type Weights map[string]func(m *Meter, i int) (kept any)

// weighed is how many of the things are made: a client without any has some 50 kB.
const weighed = 500

// rounds is how often a figure that is out of its row's bounds is measured. What the machine does beside the test is not
// in every round. A cost that has grown is.
const rounds = 4

// Weigh measures the heap that each thing of a package's recipes takes a client, and counts what each call
// allocates, the in-memory server's part included. It compares both with their rows, which they must not exceed, and of
// which they must be more than half. It needs a build without the race detector.
func Weigh(t *testing.T, pkg string, weights Weights, allocations Costs) {
	t.Helper()
	rows := newRows(t, pkg, 3)
	for name, one := range weights {
		t.Run(name, func(t *testing.T) {
			rows.bound(t, name, "bytes", func() (got int) {
				zktest.Bubble(t, func(t *testing.T) { got = weigh(t, one) })
				return got
			})
		})
	}
	for name, prepare := range allocations {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				run := prepare(newMeter(t, zktest.New(t)))
				rows.bound(t, name, "allocations", func() int { return int(testing.AllocsPerRun(200, run)) })
			})
		})
	}
	rows.checkCounted(t)
}

func weigh(t *testing.T, one func(m *Meter, i int) any) int {
	t.Helper()
	m, kept := newMeter(t, zktest.NewServer()), make([]any, weighed)
	for i := range kept {
		kept[i] = one(m, i)
		synctest.Wait() // waiters that join at the same moment keep different amounts, depending on who runs first
	}
	m.Pass(2 * time.Second) // nothing is kept for the next acquire
	m.Do(m.Server.Close())  // the client's sessions last for a while
	m.link.Segments()
	with := heap()
	clear(kept)
	_ = m.Close() // no server ends its session
	m.Client, m.link = nil, nil
	m.Pass(2 * time.Hour) // no timer keeps anything
	got := with - heap()
	runtime.KeepAlive(m.Server)
	runtime.KeepAlive(kept)
	return got / weighed
}

// heap returns how many bytes are alive, once the cleanups of what is not have run: a cleanup keeps its argument.
func heap() int {
	for range 2 { // what a pool holds goes with the second
		var cleaned atomic.Bool
		runtime.AddCleanup(new([32]byte), func(cleaned *atomic.Bool) { cleaned.Store(true) }, &cleaned)
		for i := 0; i < 1000 && !cleaned.Load(); i++ {
			runtime.GC()
		}
	}
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// bound compares a figure with its row's, which is its bound.
func (r *rows) bound(t *testing.T, name, unit string, measure func() int) {
	t.Helper()
	cells, head := r.find(name)
	var most int
	var found string
	if _, err := fmt.Sscanf(cells, "%d %s", &most, &found); err != nil || found != unit {
		t.Fatalf("%s\ngot  %s%s |\nwant a number of %s", costsPage, head, cells, unit)
	}
	within := func(got int) bool { return got <= most && (most == 0 || got > most/2) }
	got := measure()
	for i := 1; i < rounds && !within(got) && !t.Failed(); i++ {
		t.Logf("%d %s, of %s: measured again", got, unit, cells)
		got = measure()
	}
	t.Logf("%d %s, of %s", got, unit, cells)
	if !within(got) {
		t.Errorf("%s\ngot  %s%d %s |\nwant at most, and more than half of, %s", costsPage, head, got, unit, cells)
	}
}
