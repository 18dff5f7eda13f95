// Package costtest counts what recipes cost, for tests, and compares it with the tables of the page about sizing.
package costtest

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// Costs are rows of the page's table of costs, by recipe and name: "locks.InterProcessMutex: acquire". A function does
// what comes before, and returns what is counted.
type Costs map[string]func(m *Meter) (counted func())

// Count counts each cost of a package's recipes in a bubble of its own, and compares it with its row. Every row of
// the package must have its cost.
func Count(t *testing.T, pkg string, costs Costs) {
	t.Helper()
	rows := newRows(t, pkg, 7)
	for name, prepare := range costs {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				m := newMeter(t, zktest.New(t))
				rows.check(t, name, m.count(prepare(m)))
			})
		})
	}
	rows.checkCounted(t)
}

// A Meter is a client whose costs are counted. Each way to the server takes it time.
type Meter struct {
	*framework.Client

	T      *testing.T
	Server *zktest.Server

	link    *lockstest.Link
	cable   *zktest.Link
	passed  time.Duration
	callers atomic.Int32
}

// meterLatency is a way to the server.
const meterLatency = 5 * time.Millisecond

// newMeter makes a client that is connected, and closed at the end of the test.
func newMeter(t *testing.T, server *zktest.Server) *Meter {
	t.Helper()
	m := &Meter{T: t, Server: server, cable: server.NewLink()}
	m.link = lockstest.NewLink("zktest:2181", m.cable.DialContext)
	client, err := framework.NewClient(m.link.Servers(), framework.WithDialer(m.link.DialContext),
		framework.WithSessionTimeout(lockstest.MemorySessionTimeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if m.Client != nil {
			_ = m.Close()
		}
	})
	m.Client = client
	if err := client.BlockUntilConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

// Rival makes another client of the server, whose costs do not count. It has no latency.
func (m *Meter) Rival() *framework.Client {
	m.T.Helper()
	return newMeter(m.T, m.Server).Client
}

// Make makes persistent nodes.
func (m *Meter) Make(paths ...string) {
	m.T.Helper()
	for _, path := range paths {
		m.Do(m.Server.Create(path, nil))
	}
}

// Go calls f on another goroutine, which is no cost.
func (m *Meter) Go(f func()) {
	m.callers.Add(1)
	go func() {
		defer m.callers.Add(-1)
		f()
	}()
}

// goroutines counts those of the bubble that are not of Go. Others may still be ending after an earlier test.
func (m *Meter) goroutines() int {
	m.T.Helper()
	_, bubble, ok := strings.Cut(strings.SplitN(stacks(false), "]", 2)[0], "synctest bubble ")
	if !ok {
		m.T.Fatal("got no number of a bubble in this goroutine's stack, want a Meter to be used in a bubble")
	}
	n := 0
	for line := range strings.Lines(stacks(true)) {
		if strings.HasPrefix(line, "goroutine ") && strings.Contains(line, ", synctest bubble "+bubble+"]") {
			n++
		}
	}
	return n - int(m.callers.Load())
}

// stacks returns the stack of this goroutine, or of all.
func stacks(all bool) string {
	for size := 1 << 20; ; size *= 2 {
		text := make([]byte, size)
		if n := runtime.Stack(text, all); n < size {
			return string(text[:n])
		}
	}
}

// Do ends the test if there is an error.
func (m *Meter) Do(err error) {
	m.T.Helper()
	if err != nil {
		m.T.Fatal(err)
	}
}

// Settle lets requests and events arrive, for less time than it takes until a held node is watched.
func (m *Meter) Settle() { m.Pass(4 * meterLatency) }

// Pass lets time pass that is no cost.
func (m *Meter) Pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	m.passed += d
}

// count returns the cells of a row.
func (m *Meter) count(counted func()) string {
	m.T.Helper()
	m.Pass(100 * time.Millisecond) // held nodes are watched
	m.cable.SetLatency(meterLatency)
	m.link.Segments()
	m.link.Events()
	m.passed = 0
	watches, goroutines, begun := m.watches(), m.goroutines(), time.Now()
	counted()
	took := time.Since(begun) - m.passed
	m.Settle()
	return fmt.Sprintf("%s | %d | %s | %d | %d", m.requests(), m.link.Events(), m.roundTrips(took),
		m.watches()-watches, m.goroutines()-goroutines)
}

// shown is the order of requests in a cell.
var shown = []lockstest.Op{
	lockstest.Create, lockstest.Multi, lockstest.GetChildren, lockstest.Exists, lockstest.GetData, lockstest.SetData,
	lockstest.AddWatch, lockstest.Delete, lockstest.RemoveWatches,
}

// requests names what the client has sent, but for renewals.
func (m *Meter) requests() string {
	sent := map[lockstest.Op]int{}
	for _, segment := range m.link.Segments() {
		for _, op := range segment {
			if op != lockstest.Renewal {
				sent[op]++
			}
		}
	}
	ops := slices.SortedFunc(maps.Keys(sent), func(a, b lockstest.Op) int {
		return cmp.Or(cmp.Compare(slices.Index(shown, a), slices.Index(shown, b)), cmp.Compare(a, b))
	})
	var texts []string
	for _, op := range ops {
		text := strings.TrimSuffix(zktest.Op(op).String(), "2")
		if n := sent[op]; n > 1 {
			text = fmt.Sprint(n, " ", text)
		}
		texts = append(texts, text)
	}
	return cmp.Or(strings.Join(texts, ", "), "none")
}

// roundTrips writes a time as round trips.
func (m *Meter) roundTrips(took time.Duration) string {
	m.T.Helper()
	if took%meterLatency != 0 {
		m.T.Errorf("it took %v, want a whole number of ways of %v", took, meterLatency)
	}
	whole, half := strconv.Itoa(int(took/meterLatency/2)), took/meterLatency%2 == 1
	switch {
	case half && whole == "0":
		return "½"
	case half:
		return whole + "½"
	default:
		return whole
	}
}

// watches counts those of the client at the server.
func (m *Meter) watches() int {
	s, err := m.Session(m.T.Context())
	m.Do(err)
	n := 0
	for _, w := range m.Server.ListWatches() {
		if w.Session == s.ID() {
			n++
		}
	}
	return n
}
