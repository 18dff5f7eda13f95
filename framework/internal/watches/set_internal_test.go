package watches

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"
)

// several is a table with watches that were set without a read.
type several struct {
	*testing.T
	table *Table
	subs  map[string]*Subscription
}

const asOf = 7

func newSeveral(t *testing.T, paths ...string) *several {
	t.Helper()
	s := &several{T: t, table: New(), subs: map[string]*Subscription{}}
	s.table.Attached(start, 0)
	for _, path := range paths {
		s.subscribe(Since{Path: path, Readable: true})
		s.answer(s.take(SetData, path), Answer{})
	}
	return s
}

func (s *several) subscribe(since Since) *Subscription {
	since.Sub, since.Wake = &Subscription{}, func() {}
	s.table.SubscribeSince(asOf, []Since{since}, true, start)
	s.subs[since.Path] = since.Sub
	return since.Sub
}

// take returns the one request.
func (s *several) take(op Op, path string) Request {
	s.Helper()
	requests := slices.Clone(s.table.Requests())
	if len(requests) != 1 || requests[0].Op != op || requests[0].Path != path {
		s.Fatalf("got requests %v, want one of kind %d for %s", requests, op, path)
	}
	return requests[0]
}

func (s *several) answer(r Request, a Answer) {
	if a.Outcome != Found {
		a.Err = errors.New("an error")
	}
	s.table.Answered(r, a, start)
}

// An answer that shows that an event was lost, or may be, has the other nodes read too, and all later ones.
func TestReadThatFindsALostEventHasAllNodesRead(t *testing.T) {
	for name, c := range map[string]struct {
		answer Answer
		lost   bool
	}{
		"missing":                {Answer{Outcome: Missing}, true},
		"changed":                {Answer{Stat: &zk.Stat{Mzxid: asOf + 1}}, true},
		"may not be read":        {Answer{Outcome: Forbidden}, true},
		"unchanged":              {Answer{Stat: &zk.Stat{Mzxid: asOf}}, false},
		"the server is busy":     {Answer{Outcome: Busy}, false},
		"the connection is lost": {Answer{Outcome: Lost}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSeveral(t, "/b", "/c", "/a")
			s.table.ReadAgain(s.subs["/b"], start)
			s.answer(s.take(ReadData, "/b"), c.answer)
			var got []string
			for _, r := range s.table.Requests() {
				if r.Op == ReadData {
					got = append(got, r.Path)
				}
			}
			var want []string
			if c.lost {
				want = []string{"/a", "/c"}
			}
			if !slices.Equal(got, want) || s.table.ReadsAll() != c.lost {
				t.Errorf("got reads of %q, and from now on of all %t, want %q and %t", got, s.table.ReadsAll(), want, c.lost)
			}
			op := SetData
			if c.lost {
				op = ReadData
			}
			s.subscribe(Since{Path: "/later", Readable: true})
			s.take(op, "/later")
		})
	}
}

// An event that has come is not lost: what is read behind it proves nothing.
func TestReadBehindAnEventFindsNoLostEvent(t *testing.T) {
	for name, c := range map[string]struct {
		kind   zk.EventType
		answer Answer
	}{
		"deleted": {zk.EventNodeDeleted, Answer{Outcome: Missing}},
		"changed": {zk.EventNodeDataChanged, Answer{Stat: &zk.Stat{Mzxid: asOf + 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSeveral(t, "/a")
			s.table.ReadAgain(s.subs["/a"], start)
			r := s.take(ReadData, "/a")
			s.table.Event(c.kind, "/a", start)
			s.answer(r, c.answer)
			if s.table.ReadsAll() {
				t.Error("got all nodes read from now on, want watches that are set without a read")
			}
		})
	}
}

func TestServerThatTakesNoSetWatchesGetsNoSecondOneOnItsConnection(t *testing.T) {
	s := newSeveral(t)
	for _, op := range []Op{SetData, ReadData, SetData} {
		path := fmt.Sprint("/", len(s.subs))
		s.subscribe(Since{Path: path, Readable: true})
		if r := s.take(op, path); op == SetData {
			s.answer(r, Answer{Outcome: Denied})
			s.take(ReadData, path)
		} else {
			s.table.Detached()
			s.table.Attached(start, 0)
			s.table.Requests()
		}
	}
}

func TestNodeWhoseWatchIsBeingSetWhenALostEventIsFoundIsReadToo(t *testing.T) {
	s := newSeveral(t, "/a")
	s.subscribe(Since{Path: "/b", Readable: true})
	setting := s.take(SetData, "/b")
	s.table.ReadAgain(s.subs["/a"], start)
	s.answer(s.take(ReadData, "/a"), Answer{Outcome: Missing})
	wantRequests(t, s.table)
	s.answer(setting, Answer{})
	s.take(ReadData, "/b")
}

func TestOptionalSubscriptionIsMadeOnlyIfItTakesNoRead(t *testing.T) {
	s := newSeveral(t, "/known")
	for path, c := range map[string]struct {
		readable bool
		asks     []Op
		made     bool
	}{"/known": {made: true}, "/readable": {true, []Op{SetData}, true}, "/other": {}} {
		sub := s.subscribe(Since{Path: path, Readable: c.readable, Optional: true})
		if wantRequests(t, s.table, c.asks...); sub.Begun() != c.made || (s.table.nodes[Key{Path: path}] != nil) != c.made {
			t.Errorf("%s: got a subscription %t, want %t", path, sub.Begun(), c.made)
		}
	}
}

// A read has set a watch, and a busy server has kept it. Then setWatches reports that the node was deleted, and that
// another is there: these events spend no watch.
func TestWatchThatABusyServerHasKeptIsTakenOffAfterAReportOfSetWatches(t *testing.T) {
	for name, reports := range map[string][]zk.EventType{
		"before the answer":       {zk.EventNodeDeleted, zk.EventNodeDataChanged},
		"the answer has not come": {zk.EventNodeDeleted},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSeveral(t)
			read := s.subscribe(Since{Path: "/a"})
			s.answer(s.take(ReadData, "/a"), Answer{Stat: &zk.Stat{}})
			s.table.Unsubscribe(read)
			removal := s.take(RemoveData, "/a")
			set := s.subscribe(Since{Path: "/a", Readable: true})
			setting := s.take(SetData, "/a")
			s.answer(removal, Answer{Outcome: Busy})
			s.table.AskAgain(start)
			for _, kind := range reports {
				s.table.Event(kind, "/a", start)
			}
			if len(reports) > 1 {
				s.answer(setting, Answer{})
			}
			s.table.Unsubscribe(set)
			s.take(RemoveData, "/a")
		})
	}
}
