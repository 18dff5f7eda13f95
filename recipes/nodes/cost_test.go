package nodes_test

import (
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/recipes/internal/costtest"
	"github.com/gocurator/curator/recipes/nodes"
)

// registered starts a node below /services, which exists, and closes it at the end of the test.
func registered(m *costtest.Meter) *nodes.PersistentNode {
	node := nodes.NewPersistentNode(m.Client, path, []byte("data"))
	m.Do(node.Start(m.T.Context()))
	m.T.Cleanup(func() { _ = node.Close() })
	return node
}

func TestCosts(t *testing.T) {
	costtest.Count(t, "nodes", costtest.Costs{
		"nodes.PersistentNode: start": func(m *costtest.Meter) func() {
			m.Make("/services", "/services/web")
			return func() { registered(m) }
		},
		"nodes.PersistentNode: start; two parents are missing": func(m *costtest.Meter) func() {
			return func() { registered(m) }
		},
		"nodes.PersistentNode: start; a node of a former session is there": func(m *costtest.Meter) func() {
			rival := m.Rival()
			makeEphemeral(m.T, rival, path, "old")
			return func() {
				m.Go(func() { registered(m) })
				m.Settle()
				m.Server.ExpireSession(sessionOf(m.T, rival).ID())
				m.Settle()
			}
		},
		"nodes.PersistentNode: set the data": func(m *costtest.Meter) func() {
			node := registered(m)
			return func() { m.Do(node.Set(m.T.Context(), []byte("new"))) }
		},
		"nodes.PersistentNode: an administrator deletes the node": func(m *costtest.Meter) func() {
			registered(m)
			return func() {
				m.Do(m.Server.Delete(path))
				m.Settle()
			}
		},
		"nodes.PersistentNode: an administrator writes its data": func(m *costtest.Meter) func() {
			registered(m)
			return func() {
				m.Do(m.Server.SetData(path, []byte("other")))
				m.Settle()
			}
		},
		"nodes.PersistentNode: close": func(m *costtest.Meter) func() {
			node := registered(m)
			synctest.Wait()
			return func() { m.Do(node.Close()) }
		},
	})
}
