package live

import (
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/framework/session"
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

// A removing is an observer that notes whether the nodes of a listing are being removed when it sees them.
type removing struct {
	goners
	removals *removals
	known    []bool
}

func (r *removing) Listed(names []string, _ *zk.Stat) {
	r.removals.mu.Lock()
	defer r.removals.mu.Unlock()
	for _, name := range names {
		r.known = append(r.known, r.removals.pending["/dir/"+name] != nil)
	}
}

// What an observer asks for when it sees the listing comes behind the removal.
func TestALostNodeIsBeingRemovedWhenObserversSeeIt(t *testing.T) {
	s, _ := unconnected()
	s.onAttached(attachedAt(s.clock.Now()))
	name := protected("n-")
	s.Runner.orphans.adopt(Backlog{orphans: []orphan{{dir: "/dir", name: name, sequential: true}}})
	observer := &removing{removals: s.Runner.removals}
	s.ObserveChildren("/dir", observer)
	s.observers.listed("/dir", []string{name + "0000000007", protected("n-") + "0000000008"}, nil)
	if want := []bool{true, false}; !slices.Equal(observer.known, want) {
		t.Errorf("got removals %v of a lost node and another, want %v", observer.known, want)
	}
}

// Two locks at one path observe one directory.
func TestAnObserverThatLeavesLeavesTheOthers(t *testing.T) {
	s, _ := unconnected()
	var leaves, stays goners
	s.ObserveChildren("/dir", &leaves)
	s.ObserveChildren("/dir", &stays)
	s.UnobserveChildren("/dir", &leaves)
	s.observers.gone("/dir/n")
	if len(leaves.names) > 0 || len(stays.names) != 1 {
		t.Errorf("got %q for the one that has left and %q for the other, want nothing and the node", leaves.names, stays.names)
	}
}

func TestAnObserverOfTheRootHearsOfItsNodes(t *testing.T) {
	s, _ := unconnected()
	var heard goners
	s.ObserveChildren("/", &heard)
	s.observers.gone("/n")
	s.observers.gone("/n/below")
	if want := []string{"n"}; !slices.Equal(heard.names, want) {
		t.Errorf("got %q gone, want %q", heard.names, want)
	}
}

// A report goes on without the mutex, while observers come and go.
func TestTheObserversOfAReportStayAsTheyWere(t *testing.T) {
	all := &observers{base: &base{}, of: map[string][]session.ChildObserver{}}
	a, b, c := &goners{}, &goners{[]string{"b"}}, &goners{[]string{"c"}}
	all.add("/dir", a)
	all.add("/dir", b)
	all.add("/dir", b)
	reported := all.at("/dir")
	all.remove("/dir", a)
	all.add("/dir", c)
	if want := []session.ChildObserver{a, b}; !slices.Equal(reported, want) {
		t.Errorf("got %v in the report, want %v", reported, want)
	}
	if got, want := all.at("/dir"), []session.ChildObserver{b, c}; !slices.Equal(got, want) {
		t.Errorf("got %v afterwards, want %v", got, want)
	}
	all.remove("/dir", b)
	all.remove("/dir", c)
	if len(all.of) != 0 {
		t.Errorf("got %d directories left, want none", len(all.of))
	}
}
