package cgroup

import (
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/ranked"
)

const (
	every  = 5 * time.Second // between samples
	kept   = 64
	longer = 16 << 10 // no file that a sample reads is nearly as long
)

// A Meter takes samples of one cgroup. A nil Meter has none. It is safe for concurrent use.
type Meter struct {
	dir  fs.FS
	next atomic.Int64 // when the next sample is due

	mu      ranked.Mutex[ranked.Leaf, Meter]
	count   int
	samples [kept]sample
}

// A sample is what the kernel had counted at a time. Both counts grow.
type sample struct {
	at                time.Duration
	throttled, waited time.Duration
}

// Use is what happened between two samples.
type Use struct {
	// Span is the time between the samples.
	Span time.Duration
	// Throttled is how long the quota kept processes of the cgroup from running, summed over the processors.
	Throttled time.Duration
	// Waited is for how long at least one of its tasks waited for a processor.
	Waited time.Duration
}

// New returns a Meter of the cgroup whose files dir has, or nil if they do not say what is needed.
func New(dir fs.FS) *Meter {
	m := &Meter{dir: dir}
	if !m.Take(0) {
		return nil
	}
	return m
}

// Due reports whether it is time for a sample, and says so once. It costs nothing worth mentioning.
func (m *Meter) Due(at time.Duration) bool {
	if m == nil {
		return false
	}
	next := m.next.Load()
	return int64(at) >= next && m.next.CompareAndSwap(next, int64(at+every))
}

// Take reads two small files, and reports whether it got a sample. at does not fall from call to call.
func (m *Meter) Take(at time.Duration) bool {
	if m == nil {
		return false
	}
	stat, found := field(m.read("cpu.stat"), "throttled_usec ")
	if !found {
		return false
	}
	var waited time.Duration
	for line := range strings.Lines(m.read("cpu.pressure")) {
		if some, found := strings.CutPrefix(line, "some "); found {
			waited, _ = field(strings.ReplaceAll(some, " ", "\n"), "total=")
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples[m.count%kept] = sample{at, stat, waited}
	m.count++
	return true
}

func (m *Meter) read(name string) string {
	f, err := m.dir.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, longer))
	if err != nil {
		return ""
	}
	return string(text)
}

// field is the number of microseconds on the line that begins with name.
func field(text, name string) (d time.Duration, found bool) {
	for line := range strings.Lines(text) {
		if digits, found := strings.CutPrefix(strings.TrimSpace(line), name); found {
			n, err := strconv.ParseInt(digits, 10, 64)
			return time.Duration(n) * time.Microsecond, err == nil && n >= 0 && n <= math.MaxInt64/int64(time.Microsecond)
		}
	}
	return 0, false
}

// Awaits reports whether there is no sample yet of a time or later.
func (m *Meter) Awaits(at time.Duration) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.samples[(m.count+kept-1)%kept].at < at
}

// Between is what happened from the newest sample before from to the oldest after to; false if either is missing.
func (m *Meter) Between(from, to time.Duration) (u Use, known bool) {
	if m == nil {
		return Use{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var first, last sample
	begun, ended := false, false
	for i := max(0, m.count-kept); i < m.count; i++ {
		s := m.samples[i%kept]
		if s.at <= from {
			first, begun = s, true
		}
		if s.at >= to && !ended {
			last, ended = s, true
		}
	}
	if !begun || !ended {
		return Use{}, false
	}
	return Use{last.at - first.at, last.throttled - first.throttled, last.waited - first.waited}, true
}
