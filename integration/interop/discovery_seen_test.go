//go:build linux

package interop_test

import (
	"fmt"
	"strings"
	"sync"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
)

// A serviceEvents is what our cache has reported: the events of each node, and those of the whole cache.
type serviceEvents struct {
	mu  sync.Mutex
	all map[string][]string
}

func (l *serviceEvents) add(e discovery.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[string][]string{}
	}
	text, instance := e.Kind.String(), e.New
	if e.Kind == cache.Deleted {
		instance = e.Old
	}
	if instance.Port != nil {
		text += fmt.Sprint(" ", *instance.Port)
	}
	l.all[e.Node] = append(l.all[e.Node], text)
}

// of returns the events of a node, or those of the whole cache for "".
func (l *serviceEvents) of(node string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all[node], ", ")
}

// node returns the name of the node of an instance, which is its id but for sequential ones.
func (m *market) node(id string) string {
	m.t.Helper()
	for _, child := range m.children(m.base + "/" + m.service) {
		if strings.TrimRight(child, "0123456789") == id || strings.HasSuffix(strings.TrimRight(child, "0123456789"), "-"+id) {
			return child
		}
	}
	return id
}

// czxids are those of the nodes of instances; -1 where there is none.
func (m *market) czxids(ids []string) []int64 {
	m.t.Helper()
	var all []int64
	for _, id := range ids {
		node := m.base + "/" + m.service + "/" + id
		there, stat, err := m.observer.Exists(node)
		if err != nil {
			m.t.Fatalf("%s: %v", node, err)
		}
		if !there {
			stat.Czxid = -1
		}
		all = append(all, stat.Czxid)
	}
	return all
}

// awaitRegisteredAgain waits until instances have other nodes.
func (m *market) awaitRegisteredAgain(ids []string, before []int64) {
	m.t.Helper()
	await.Until(m.t, patience, "new nodes of "+strings.Join(ids, ", "), func() bool {
		for i, czxid := range m.czxids(ids) {
			if czxid == -1 || czxid == before[i] {
				return false
			}
		}
		return true
	})
}
