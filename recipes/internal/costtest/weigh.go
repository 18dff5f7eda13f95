package costtest

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// Weights are rows of the page's table of memory, by recipe and name: "locks.InterProcessMutex: a held lock". A
// function makes the thing with a number, and returns what keeps it. Nothing must be left to the test's Cleanup, which
// keeps it, too.
type Weights map[string]func(m *Meter, i int) (kept any)

// weighed is how many of the things are made: a client without any has some 50 kB.
const weighed = 500

// Weigh measures the heap that each thing of a package's recipes takes a client, and counts what each call
// allocates, the in-memory server's part included. It compares both with their rows, which they must not exceed, and of
// which they must be more than half. It needs a build without the race detector.
func Weigh(t *testing.T, pkg string, weights Weights, allocations Costs) {
	t.Helper()
	rows := newRows(t, pkg, 3)
	for name, one := range weights {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) { rows.bound(t, name, weigh(t, one), "bytes") })
		})
	}
	for name, prepare := range allocations {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				run := prepare(newMeter(t, zktest.New(t)))
				rows.bound(t, name, int(testing.AllocsPerRun(200, run)), "allocations")
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

func heap() int {
	runtime.GC() // what a pool holds goes with the second
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// bound compares a number with its row's, which is its bound.
func (r *rows) bound(t *testing.T, name string, got int, unit string) {
	t.Helper()
	cells, head := r.find(name)
	t.Logf("%d %s, of %s", got, unit, cells)
	var most int
	var found string
	if _, err := fmt.Sscanf(cells, "%d %s", &most, &found); err != nil || found != unit || got > most || most > 0 && got <= most/2 {
		t.Errorf("%s\ngot  %s%d %s |\nwant at most, and more than half of, %s", costsPage, head, got, unit, cells)
	}
}
