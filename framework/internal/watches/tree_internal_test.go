package watches

import (
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

type quiet struct{ refused error }

func (*quiet) Watching()                    {}
func (*quiet) Changed(zk.EventType, string) {}
func (*quiet) Lost()                        {}
func (q *quiet) Refused(err error)          { q.refused = err }

// The session ends its watch on a node, which the server is too busy to take off, and then watches the tree there. To
// take the node's watch off now would take the tree's as well, on servers before 3.9. So the end of the tree does.
func TestTheWatchThatATreeCoversIsTakenOffWithTheTree(t *testing.T) {
	o := inState("set")
	o.table.Unsubscribe(o.sub)
	removal := o.table.Requests()[0]
	ear := &quiet{}
	o.table.ObserveTree("/n", ear)
	o.table.SetTree("/n", start)
	wantRequests(t, o.table, SetTree)
	o.table.Answered(removal, Answer{Outcome: Busy, Err: errors.New("busy")}, start)
	o.table.AskAgain(start)
	wantRequests(t, o.table)
	o.table.UnobserveTree("/n", ear, start)
	wantRequests(t, o.table, RemoveTree, RemoveData)
	o.table.ObserveTree("/n", ear)
	o.table.UnobserveTree("/n", ear, start)
	wantRequests(t, o.table, RemoveTree)
}

// A server before 3.9 does not know the removal of a tree's watch alone, and takes all watches on the path off.
func TestAllWatchesGoWithATreeWhereItsOwnCannot(t *testing.T) {
	o := inState("set")
	ear := &quiet{}
	o.table.ObserveTree("/n", ear)
	o.table.SetTree("/n", start)
	o.table.Requests()
	o.table.UnobserveTree("/n", ear, start)
	removal := o.table.Requests()[0]
	o.table.Answered(removal, Answer{Outcome: Unsupported, Err: errors.New("marshalling")}, start)
	wantRequests(t, o.table, RemoveAny, ReadData)
}

func TestARefusedTreeGivesItsNodeAWatchOfItsOwn(t *testing.T) {
	o := inState("set")
	ear := &quiet{}
	o.table.ObserveTree("/n", ear)
	o.table.SetTree("/n", start)
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
	o.table.ObserveTree("/n", &quiet{})
	o.table.SetTree("/n", start)
	wantRequests(t, o.table)
	o.table.Attached(start, time.Second)
	wantRequests(t, o.table, SetTree, ReadData)
}
