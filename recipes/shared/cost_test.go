package shared_test

import (
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/recipes/internal/costtest"
	"github.com/gocurator/curator/recipes/shared"
)

// counted starts a count, whose node may exist, and closes it at the end of the test.
func counted(m *costtest.Meter) *shared.SharedCount {
	m.T.Helper()
	count := shared.NewSharedCount(m.Client, path, 1)
	m.Do(count.Start(m.T.Context()))
	m.T.Cleanup(func() { _ = count.Close() })
	synctest.Wait()
	return count
}

func TestCosts(t *testing.T) {
	costtest.Count(t, "shared", costtest.Costs{
		"shared.SharedCount: start; the node is missing": func(m *costtest.Meter) func() {
			m.Make(parent)
			return func() { counted(m) }
		},
		"shared.SharedCount: start": func(m *costtest.Meter) func() {
			m.Do(counted(m).Close())
			return func() { counted(m) }
		},
		"shared.SharedCount: set": func(m *costtest.Meter) func() {
			count := counted(m)
			return func() { m.Do(count.SetCount(m.T.Context(), 2)) }
		},
		"shared.SharedCount: set if it is the known one": func(m *costtest.Meter) func() {
			count := counted(m)
			return func() {
				set, err := count.TrySetCount(m.T.Context(), count.VersionedValue(), 2)
				if err != nil || !set {
					m.T.Errorf("got %v, %v, want true and no error", set, err)
				}
			}
		},
		"shared.SharedCount: get": func(m *costtest.Meter) func() {
			count := counted(m)
			return func() { wantCount(m.T, count, 1) }
		},
		"shared.SharedCount: confirm": func(m *costtest.Meter) func() {
			count := counted(m)
			return func() { m.Do(count.Confirm(m.T.Context())) }
		},
		"shared.SharedCount: another client sets it": func(m *costtest.Meter) func() {
			counted(m)
			return func() {
				m.Do(m.Server.SetData(path, []byte{0, 0, 0, 7}))
				m.Settle()
			}
		},
		"shared.SharedCount: close": func(m *costtest.Meter) func() {
			count := counted(m)
			return func() { m.Do(count.Close()) }
		},
	})
}
