package watches

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

type quiet struct{ refused error }

func (*quiet) Watching()                    {}
func (*quiet) Changed(zk.EventType, string) {}
func (*quiet) Lost()                        {}
func (q *quiet) Refused(err error)          { q.refused = err }

// A recorder notes the calls of a tree's observer.
type recorder struct {
	quiet
	heard []string
}

func (r *recorder) Watching()                           { r.heard = append(r.heard, "watching") }
func (r *recorder) Changed(_ zk.EventType, path string) { r.heard = append(r.heard, path) }

// The second observer shares the watch of the first, and reads the tree once it hears of the watch. What it heard
// before would be changes to nothing.
func TestAnObserverHearsOfATreesChangesOnceItHasHeardOfTheWatch(t *testing.T) {
	o := &one{table: New()}
	o.table.Attached(start, time.Second)
	o.table.SetTrees(start)
	var first, second recorder
	o.table.ObserveTree("/n", &first, start)
	o.take()
	o.answer(Found)
	o.table.ObserveTree("/n", &second, start)
	o.take()
	o.table.Event(zk.EventNodeCreated, "/n/early", start)
	o.take()
	o.answer(Found)
	o.table.Event(zk.EventNodeCreated, "/n/late", start)
	o.take()
	if want := []string{"watching", "/n/early", "/n/late"}; !slices.Equal(first.heard, want) {
		t.Errorf("the first observer: got %v, want %v", first.heard, want)
	}
	if want := []string{"watching", "/n/late"}; !slices.Equal(second.heard, want) {
		t.Errorf("the second observer: got %v, want %v", second.heard, want)
	}
}

// The session ends its watch on a node, which the server is too busy to take off, and then watches the tree there. To
// take the node's watch off now would take the tree's as well, on servers before 3.9. So the end of the tree does.
func TestTheWatchThatATreeCoversIsTakenOffWithTheTree(t *testing.T) {
	o := inState("set")
	o.table.Unsubscribe(o.sub)
	removal := o.table.Requests()[0]
	ear := &quiet{}
	o.table.ObserveTree("/n", ear, start)
	o.table.SetTrees(start)
	wantRequests(t, o.table, SetTree)
	o.table.Answered(removal, Answer{Outcome: Busy, Err: errors.New("busy")}, start)
	o.table.AskAgain(start)
	wantRequests(t, o.table)
	o.table.UnobserveTree("/n", ear, start)
	wantRequests(t, o.table, RemoveTree, RemoveData)
	o.table.ObserveTree("/n", ear, start)
	o.table.UnobserveTree("/n", ear, start)
	wantRequests(t, o.table, SetTree, RemoveTree)
}

func TestTheWatchThatATreeCoversGoesWithItsConnection(t *testing.T) {
	o := inState("set")
	o.table.Unsubscribe(o.sub)
	removal := o.table.Requests()[0]
	ear := &quiet{}
	o.table.ObserveTree("/n", ear, start)
	o.table.SetTrees(start)
	o.table.Answered(removal, Answer{Outcome: Busy, Err: errors.New("busy")}, start)
	o.table.AskAgain(start)
	o.table.Detached()
	o.table.Requests()
	o.table.Attached(start, time.Second)
	o.table.SetTrees(start)
	o.table.UnobserveTree("/n", ear, start)
	wantRequests(t, o.table, SetTree, RemoveTree)
}

// A server before 3.9 does not know the removal of a tree's watch alone, and takes all watches on the path off.
func TestAllWatchesGoWithATreeWhereItsOwnCannot(t *testing.T) {
	o := inState("set")
	ear := &quiet{}
	o.table.ObserveTree("/n", ear, start)
	o.table.SetTrees(start)
	o.table.Requests()
	o.table.UnobserveTree("/n", ear, start)
	removal := o.table.Requests()[0]
	o.table.Answered(removal, Answer{Outcome: Unsupported, Err: errors.New("marshalling")}, start)
	wantRequests(t, o.table, RemoveAny, ReadData)
}

func TestARefusedTreeGivesItsNodeAWatchOfItsOwn(t *testing.T) {
	o := inState("set")
	ear := &quiet{}
	o.table.ObserveTree("/n", ear, start)
	o.table.SetTrees(start)
	requests := o.table.Requests()
	set, read := requests[1], requests[2]
	if set.Op != SetTree || read.Op != ReadData || read.Watch {
		t.Fatalf("got %+v, want the tree, and a read without a watch", requests)
	}
	o.table.Answered(set, Answer{Outcome: Denied, Err: errors.New("denied")}, start)
	again := o.table.Requests()[0]
	if again.Op != ReadData || !again.Watch {
		t.Errorf("got %+v, want a read that sets a watch", again)
	}
	for _, wake := range o.table.Wakes() {
		wake()
	}
	if ear.refused == nil {
		t.Error("the observer was not called")
	}
}

func TestTreesAreSetBeforeTheWatchesOnTheirNodes(t *testing.T) {
	o := inState("set")
	o.table.Detached()
	o.table.ObserveTree("/n", &quiet{}, start)
	o.table.SetTrees(start)
	wantRequests(t, o.table)
	o.table.Attached(start, time.Second)
	wantRequests(t, o.table, SetTree, ReadData)
}

// A server hangs up on the watch of a tree: what does not need it was asked before, and is answered.
func TestWatchesApartFromTreesAreSetBeforeThem(t *testing.T) {
	o := inState("set")
	o.table.ObserveTree("/t", &quiet{}, start)
	o.table.SetTrees(start)
	o.table.Detached()
	o.take()
	o.table.SetTrees(start)
	o.table.Attached(start, time.Second)
	wantRequests(t, o.table, ReadData, SetTree)
}

// A node was read without a watch of its own, since a tree covered it. The tree ends before the answer, which must not
// pass for that of a read with a watch.
func TestAReadUnderWayIsRepeatedWithAWatchWhenItsTreeEnds(t *testing.T) {
	o := inState("gone")
	ear := &quiet{}
	o.table.ObserveTree("/n", ear, start)
	o.table.SetTrees(start)
	o.table.Requests()
	o.table.ReadAgain(o.sub, start)
	bare := o.table.Requests()[0]
	o.table.UnobserveTree("/n", ear, start)
	requests := o.table.Requests()
	if bare.Watch || len(requests) != 2 || requests[0].Op != RemoveTree || !requests[1].Reads() || !requests[1].Watch {
		t.Fatalf("got %+v after %+v, want the end of the tree, and a read that sets a watch", requests, bare)
	}
	o.table.Removing("/n") // so the new subscriber asks nothing of its own
	later := o.subscribe(Promptly)
	o.table.Answered(bare, Answer{Outcome: Found, Stat: &zk.Stat{}}, start)
	if view := o.table.View(later); view.Current {
		t.Errorf("got %+v, want no watch before the second answer", view)
	}
	o.table.Answered(requests[1], Answer{Outcome: Found, Stat: &zk.Stat{}}, start)
	if view := o.table.View(later); !view.Current {
		t.Errorf("got %+v, want a watch", view)
	}
}

// Until the server is known to take watches of trees, as long as the question takes, a node below one is watched by
// itself.
func TestATreeCoversItsNodeOnceTheServerIsKnownToTakeIt(t *testing.T) {
	o := inState("set")
	ear := &quiet{}
	o.table.ObserveTree("/n", ear, start)
	wantRequests(t, o.table)
	if view := o.table.View(o.sub); !view.Current {
		t.Errorf("got %+v, want the node's own watch to stay", view)
	}
	o.table.SetTrees(start)
	requests := o.table.Requests()
	if len(requests) != 3 || requests[0].Op != RemoveData || requests[1].Op != SetTree || requests[2].Op != ReadData || requests[2].Watch {
		t.Errorf("got %+v, want the node's watch taken off, the tree set, and a read without a watch", requests)
	}
	if view := o.table.View(o.sub); view.Current {
		t.Errorf("got %+v, want no watch before the tree's", view)
	}
	o.table.SetTrees(start)
	wantRequests(t, o.table)
}

func TestATreeThatWasNotSetLeavesNoRequestBehind(t *testing.T) {
	for name, end := range map[string]func(table *Table, ear TreeObserver){
		"unobserved": func(table *Table, ear TreeObserver) { table.UnobserveTree("/n", ear, start) },
		"refused":    func(table *Table, _ TreeObserver) { table.RefuseTrees(errors.New("too old"), start) },
	} {
		t.Run(name, func(t *testing.T) {
			o := inState("set")
			ear := &quiet{}
			o.table.ObserveTree("/n", ear, start)
			end(o.table, ear)
			wantRequests(t, o.table)
			if view := o.table.View(o.sub); !view.Current || o.table.HasTrees() {
				t.Errorf("got %+v, trees: %t, want the node's own watch alone", view, o.table.HasTrees())
			}
			o.take()
			if got := ear.refused != nil; got != (name == "refused") {
				t.Errorf("got Refused called: %t", got)
			}
		})
	}
}

// The next server may be older.
func TestTreesAreNotSetOnAConnectionToAServerThatIsNotKnown(t *testing.T) {
	o := inState("set")
	o.table.ObserveTree("/n", &quiet{}, start)
	o.table.SetTrees(start)
	o.table.Detached()
	o.take()
	o.table.Attached(start, time.Second)
	if requests := o.table.Requests(); len(requests) != 1 || requests[0].Op != ReadData || !requests[0].Watch {
		t.Errorf("got %+v, want a read that sets the node's own watch", requests)
	}
}
