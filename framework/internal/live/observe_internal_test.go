package live

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
)

// goners notes which children are said to be gone.
type goners struct{ names []string }

func (*goners) Listed([]string, *zk.Stat) {}
func (*goners) Created(string)            {}
func (g *goners) Gone(name string)        { g.names = append(g.names, name) }
func (g *goners) Behind()                 {}

// A server that misbehaves must not take a node ahead of a contender out of its view.
func TestObserversHearOfNoDeletionThatNobodyAskedFor(t *testing.T) {
	s, _ := unconnected()
	s.onAttached(attachedAt(s.clock.Now()))
	var heard goners
	s.ObserveChildren("/dir", &heard)
	s.Session.watching.event(transport.WatchEvent{Type: zk.EventNodeDeleted, Path: "/dir/n"})
	if len(heard.names) > 0 {
		t.Errorf("got %q gone, which no watch was set on; want nothing", heard.names)
	}
	for _, op := range []watches.Op{watches.RemoveData, watches.RemoveChildren, watches.RemoveTree, watches.SetTree} {
		s.Session.watching.answered(watches.Request{Op: op, Path: "/dir/n"}, watches.Answer{Err: zk.ErrNoNode})
	}
	if len(heard.names) > 0 {
		t.Errorf("got %q gone by an answer that shows no node, want nothing", heard.names)
	}
	s.WatchData("/dir/n", func() {})
	s.Session.watching.event(transport.WatchEvent{Type: zk.EventNodeDeleted, Path: "/dir/n"})
	if len(heard.names) != 1 || heard.names[0] != "n" {
		t.Errorf("got %q gone, want the node that is watched", heard.names)
	}
}
