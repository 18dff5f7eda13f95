package counters_test

import (
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/counters"
	"github.com/gocurator/curator/recipes/internal/costtest"
)

// long is a counter whose node has a number.
func long(m *costtest.Meter, opts ...counters.Option) *counters.DistributedAtomicLong {
	m.T.Helper()
	number(m.T, m.Server, 40)
	return counters.NewDistributedAtomicLong(m.Client, path, opts...)
}

func adds(m *costtest.Meter, l *counters.DistributedAtomicLong) func() {
	return func() {
		_, _, err := l.Add(m.T.Context(), 1)
		m.Do(err)
	}
}

func TestCosts(t *testing.T) {
	costtest.Count(t, "counters", costtest.Costs{
		"counters.DistributedAtomicLong: add": func(m *costtest.Meter) func() { return adds(m, long(m)) },
		"counters.DistributedAtomicLong: add; the node is missing": func(m *costtest.Meter) func() {
			m.Make("/numbers")
			return adds(m, counters.NewDistributedAtomicLong(m.Client, path))
		},
		"counters.DistributedAtomicLong: add; another client adds between the read and the write": func(m *costtest.Meter) func() {
			l := long(m)
			before(m.T, m.Server, zktest.OpMulti, func(nth int) {
				if nth == 1 {
					number(m.T, m.Server, 50)
				}
			})
			return adds(m, l)
		},
		"counters.DistributedAtomicLong: get": func(m *costtest.Meter) func() {
			l := long(m)
			return func() {
				_, err := l.Get(m.T.Context())
				m.Do(err)
			}
		},
		"counters.DistributedAtomicLong: set": func(m *costtest.Meter) func() {
			l := long(m)
			return func() { m.Do(l.Set(m.T.Context(), 7)) }
		},
		"counters.DistributedAtomicLong: compare and set": func(m *costtest.Meter) func() {
			l := long(m)
			return func() {
				if set, err := l.CompareAndSet(m.T.Context(), 40, 7); err != nil || !set {
					m.T.Errorf("got %v, %v, want true and no error", set, err)
				}
			}
		},
		"counters.DistributedAtomicInteger: add": func(m *costtest.Meter) func() {
			number(m.T, m.Server, 40)
			put(m.T, m.Server, []byte{0, 0, 0, 40})
			i := counters.NewDistributedAtomicInteger(m.Client, path)
			return func() {
				_, _, err := i.Add(m.T.Context(), 1)
				m.Do(err)
			}
		},
	})
}
