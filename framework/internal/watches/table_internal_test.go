package watches

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// One watch, and the newest request of it.
type one struct {
	table   *Table
	sub     *Subscription
	newest  Request
	woken   int
	removed int
	asked   int
}

func (o *one) take() {
	for _, r := range o.table.Requests() {
		if r.Op == RemoveData {
			o.removed++
			continue
		}
		o.asked++
		o.newest = r
	}
	for _, wake := range o.table.Wakes() {
		wake()
	}
}

func (o *one) answer(outcome Outcome) {
	a := Answer{Outcome: outcome}
	if outcome == Found {
		a.Stat = &zk.Stat{}
	} else {
		a.Err = errors.New("an error")
	}
	o.table.Answered(o.newest, a, start)
	o.take()
}

var nodeKey = Key{Path: "/n"}

func (o *one) subscribe(how Manner) *Subscription {
	sub := &Subscription{}
	o.table.Subscribe(sub, nodeKey, func() { o.woken++ }, how, start)
	return sub
}

// inState makes a watch that is in a state of the table in doc.go.
func inState(state string) *one { return inStateFor(Promptly, state) }

// inStateFor is inState for a subscription of another manner. Only one that is deferred gets to "deferred".
func inStateFor(how Manner, state string) *one {
	o := &one{table: New()}
	if state != "unset" {
		o.table.Attached(start, time.Second)
	}
	switch state {
	case "deferred":
		o.sub = o.subscribe(Deferred)
	case "setting", "ending", "unread":
		o.sub = &Subscription{}
		o.table.SubscribeSince(1, []Since{{Sub: o.sub, Path: nodeKey.Path, Wake: func() { o.woken++ }, Readable: true}}, true, start)
	default:
		o.sub = o.subscribe(how)
	}
	o.take()
	switch state {
	case "ending":
		o.table.Event(zk.EventNodeDeleted, "/n", start)
	case "unread":
		o.answer(Found)
	case "set", "changed", "checking":
		o.answer(Found)
	case "gone":
		o.answer(Missing)
	case "refused":
		o.answer(Denied)
	}
	switch state {
	case "changed":
		o.table.Event(zk.EventNodeDataChanged, "/n", start)
	case "checking":
		o.table.ReadAgain(o.sub, start)
	case "unset":
		o.table.Attached(start, time.Second)
		o.take()
		o.answer(Busy)
	}
	o.take()
	o.woken, o.asked, o.removed = 0, 0, 0
	o.table.refused = nil
	return o
}

func (o *one) state() string {
	w := o.table.nodes[nodeKey]
	if w == nil {
		return "over"
	}
	switch {
	case w.view.Status == Gone:
		return "gone"
	case w.phase == deferred:
		return "deferred"
	case w.phase == setting && w.deleted:
		return "ending"
	case w.phase == setting:
		return "setting"
	case w.phase == asked && w.view.Status == Present:
		return "changed"
	case w.phase == asked:
		return "asked"
	case w.phase == checking:
		return "checking"
	}
	if w.unread() {
		return "unread"
	}
	return map[Status]string{Unknown: "unset", Present: "set", Gone: "gone", Refused: "refused"}[w.view.Status]
}

func (o *one) happens(what string) {
	outcomes := map[string]Outcome{"Found": Found, "Missing": Missing, "Denied": Denied, "TooLarge": TooLarge, "Busy": Busy}
	if outcome, ok := outcomes[what]; ok {
		if o.newest.node != nil && o.table.nodes[nodeKey].pending() {
			o.answer(outcome)
		}
		return
	}
	switch what {
	case "Subscribe":
		o.subscribe(Promptly)
	case "Deferred":
		o.subscribe(Deferred)
	case "SetDeferred":
		o.table.SetDeferred(start)
	case "Deleted":
		o.table.Event(zk.EventNodeDeleted, "/n", start)
	case "Changed":
		o.table.Event(zk.EventNodeDataChanged, "/n", start)
	case "ReadAgain":
		o.table.ReadAgain(o.sub, start)
	case "Removed":
		o.table.Removed("/n", false, start)
	case "Detached":
		o.table.Detached()
	case "Attached":
		o.table.Attached(start, time.Second)
	case "Unsubscribe":
		o.table.Unsubscribe(o.sub)
	default:
		panic("unknown: " + what)
	}
	o.take()
}

// The table in doc.go is true, cell by cell.
func TestTransitionsAreThoseOfTheDocumentation(t *testing.T) {
	for _, how := range []Manner{Promptly, Attentive} {
		wantTransitions(t, how)
	}
}

func wantTransitions(t *testing.T, how Manner) {
	t.Helper()
	cells := transitions(t)
	if len(cells) != 15*11 {
		t.Fatalf("got %d cells in the table of doc.go, want 15 lines of 11", len(cells))
	}
	for _, c := range cells {
		o := inStateFor(how, c.state)
		if got := o.state(); got != c.state {
			t.Fatalf("the test makes %q, want %q", got, c.state)
		}
		o.happens(c.input)
		got := o.state()
		if got == c.state && o.asked == 0 {
			got = "-"
		}
		got += strings.Repeat("!", o.asked)
		got += mark(" x", o.removed > 0) + mark(" w", o.woken > 0) + mark(" r", len(o.table.refused) > 0)
		want := strings.ReplaceAll(c.want, " l", mark(" w", how == Attentive))
		if got != want {
			t.Errorf("%s at %s, manner %d: got %q, want %q as in doc.go", c.input, c.state, how, got, want)
		}
	}
}

func mark(mark string, is bool) string {
	if is {
		return mark
	}
	return ""
}

type cell struct{ input, state, want string }

// transitions reads the table of doc.go: columns begin where the words of its first line do.
func transitions(t *testing.T) (cells []cell) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	var columns []int
	for line := range strings.Lines(string(text)) {
		row, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "//\t")
		if !ok {
			continue
		}
		if states == nil {
			states = strings.Fields(row)[1:]
			for _, state := range states {
				columns = append(columns, strings.Index(row, " "+state)+1)
			}
			continue
		}
		for i, at := range columns {
			end := len(row)
			if i+1 < len(columns) {
				end = columns[i+1]
			}
			cells = append(cells, cell{strings.Fields(row)[0], states[i], strings.TrimSpace(row[min(at, len(row)):min(end, len(row))])})
		}
	}
	return cells
}

// A reconnection leaves a node that was seen gone alone, and sets the rest.
func TestOnlyNodesThatWereNotSeenGoneAreWatchedAgain(t *testing.T) {
	for _, state := range []string{"deferred", "unset", "asked", "set", "changed", "checking", "gone", "refused", "setting", "ending", "unread"} {
		o := inState(state)
		o.table.Detached()
		o.take()
		o.table.Attached(start, time.Second)
		o.take()
		want := 1
		if state == "gone" || state == "refused" {
			want = 0
		}
		if o.asked != want {
			t.Errorf("%s: got %d requests on the next connection, want %d", state, o.asked, want)
		}
	}
}

func TestALostConnectionWakesOnlySubscriptionsThatHearOfIt(t *testing.T) {
	for _, c := range []struct {
		how  Manner
		want int
	}{{Promptly, 0}, {Deferred, 0}, {Persistent, 1}, {Attentive, 1}} {
		o := inState("set")
		again := o.subscribe(c.how)
		o.table.Detached()
		o.take()
		if got := o.table.View(again).Status; got != Unknown || o.woken != c.want {
			t.Errorf("manner %d: got status %d and %d wakes, want %d and %d", c.how, got, o.woken, Unknown, c.want)
		}
	}
}

// The node may be created while the connection is lost.
func TestALostConnectionMakesAGonePersistentSubscriptionUnknown(t *testing.T) {
	for how, want := range map[Manner]struct {
		status Status
		wakes  int
	}{Promptly: {Gone, 0}, Persistent: {Unknown, 1}} {
		o := inState("gone")
		again := o.subscribe(how)
		o.take()
		o.answer(Missing)
		o.take()
		o.woken = 0
		o.table.Detached()
		o.take()
		if got := o.table.View(again).Status; got != want.status || o.woken != want.wakes {
			t.Errorf("manner %d: got status %d and %d wakes, want %d and %d", how, got, o.woken, want.status, want.wakes)
		}
	}
}

func TestAnAnswerOfAnEarlierConnectionChangesNothing(t *testing.T) {
	o := inState("asked")
	old := o.newest
	for _, change := range []func(){o.table.Detached, func() { o.table.Attached(start, time.Second) }} {
		change()
		o.table.Answered(old, Answer{Outcome: Missing, Err: errors.New("an error")}, start)
		if got := o.table.View(o.sub).Status; got != Unknown {
			t.Errorf("got status %d, want %d: the answer to the newest request has not come", got, Unknown)
		}
	}
}

func TestViewOfAPersistentSubscriptionSaysWhyItIsRefused(t *testing.T) {
	o := inState("set")
	again := o.subscribe(Persistent)
	o.table.Event(zk.EventNodeDataChanged, "/n", start)
	o.take()
	o.answer(Forbidden)
	o.answer(Found)
	if got := o.table.View(again); got.Status != Refused || got.Err == nil {
		t.Errorf("got %+v for the persistent one, want a refusal and its reason", got)
	}
	if got := o.table.View(o.sub); got.Status != Present || !got.Current {
		t.Errorf("got %+v for the other, want the existence", got)
	}
}

// wantRequests compares what the table asks for.
func wantRequests(t *testing.T, table *Table, want ...Op) {
	t.Helper()
	var got []Op
	for _, r := range table.Requests() {
		got = append(got, r.Op)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got requests %v, want %v", got, want)
	}
}

// Unsubscribe leaves the watches on a node that the session is deleting to the server, which takes them with the node.
func TestARefusedDeletionTakesOffWhatItWouldHaveTaken(t *testing.T) {
	for _, key := range []Key{{Path: "/n"}, {Path: "/n", Children: true}} {
		table := New()
		table.Attached(start, time.Second)
		var sub Subscription
		table.Subscribe(&sub, key, func() {}, Promptly, start)
		table.Answered(table.Requests()[0], Answer{Stat: &zk.Stat{}}, start)
		table.Removing("/n")
		table.Unsubscribe(&sub)
		wantRequests(t, table)
		table.Removed("/n", true, start)
		wantRequests(t, table, RemoveData, RemoveChildren)
	}
}

// A node was missing, so a persistent subscription watches its existence. It is created, and may not be read: the watch
// that showed its existence is taken off, also when the server was busy meanwhile.
func TestAnExistenceWatchOfANodeThatMayNotBeReadIsTakenOff(t *testing.T) {
	for name, busy := range map[string]bool{"at once": false, "after a busy answer": true} {
		t.Run(name, func(t *testing.T) {
			table := New()
			table.Attached(start, time.Second)
			var sub Subscription
			table.Subscribe(&sub, Key{Path: "/n"}, func() {}, Persistent, start)
			answer := func(want Op, outcome Outcome) {
				t.Helper()
				requests := table.Requests()
				if len(requests) != 1 || requests[0].Op != want {
					t.Fatalf("got requests %v, want one of kind %d", requests, want)
				}
				table.Answered(requests[0], Answer{Outcome: outcome, Stat: &zk.Stat{}}, start)
			}
			answer(ReadData, Missing)
			answer(ReadStat, Missing)
			table.Event(zk.EventNodeCreated, "/n", start)
			answer(ReadStat, Found)
			if busy {
				answer(ReadData, Busy)
				table.AskAgain(start)
			}
			answer(ReadData, Forbidden)
			wantRequests(t, table, RemoveData)
			table.Unsubscribe(&sub)
			wantRequests(t, table)
		})
	}
}

// A watch that an answer has set is taken off when the node is refused: nothing else would do it.
func TestTheWatchBeforeARefusalIsTakenOff(t *testing.T) {
	type asked struct {
		*testing.T
		table *Table
		sub   Subscription
	}
	// take returns the one request.
	take := func(a *asked, want Op) Request {
		a.Helper()
		requests := a.table.Requests()
		if len(requests) != 1 || requests[0].Op != want {
			a.Fatalf("got requests %v, want one of kind %d", requests, want)
		}
		return requests[0]
	}
	answer := func(a *asked, r Request, outcome Outcome) {
		got := Answer{Outcome: outcome, Stat: &zk.Stat{}}
		if outcome != Found {
			got.Err = errors.New("an error")
		}
		a.table.Answered(r, got, start)
	}
	tests := map[string]struct {
		play func(a *asked)
		want []Op
	}{
		"set by existence for another subscription": {func(a *asked) {
			var other Subscription
			a.table.Unsubscribe(&a.sub)
			a.table.Requests()
			a.table.Subscribe(&other, nodeKey, func() {}, Promptly, start)
			answer(a, take(a, ReadData), Forbidden)
			answer(a, take(a, ReadStat), Found)
			a.table.Subscribe(&a.sub, nodeKey, func() {}, Persistent, start)
			a.table.Unsubscribe(&other)
			answer(a, take(a, ReadData), Forbidden)
		}, []Op{RemoveData}},
		"set while the node was readable": {func(a *asked) {
			answer(a, take(a, ReadData), Found)
			a.table.ReadAgain(&a.sub, start)
			answer(a, take(a, ReadData), Forbidden)
		}, []Op{RemoveData}},
		"set on a missing node": {func(a *asked) {
			answer(a, take(a, ReadData), Missing)
			answer(a, take(a, ReadStat), Missing)
			a.table.ReadAgain(&a.sub, start)
			answer(a, take(a, ReadStat), Forbidden)
		}, []Op{RemoveData}},
		"set by an answer that is not the newest": {func(a *asked) {
			first := take(a, ReadData)
			a.table.Event(zk.EventNodeDeleted, nodeKey.Path, start)
			newest := take(a, ReadData)
			answer(a, first, Found)
			answer(a, newest, Forbidden)
		}, []Op{RemoveData}},
		"set by the answer that is too long": {func(a *asked) {
			answer(a, take(a, ReadData), TooLarge)
		}, []Op{RemoveData}},
		"spent": {func(a *asked) {
			answer(a, take(a, ReadData), Found)
			a.table.Event(zk.EventNodeDataChanged, nodeKey.Path, start)
			answer(a, take(a, ReadData), Forbidden)
		}, nil},
		"lost with its connection": {func(a *asked) {
			answer(a, take(a, ReadData), Found)
			a.table.Detached()
			a.table.Attached(start, time.Second)
			answer(a, take(a, ReadData), Forbidden)
		}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := &asked{T: t, table: New()}
			a.table.Attached(start, time.Second)
			a.table.Subscribe(&a.sub, nodeKey, func() {}, Persistent, start)
			test.play(a)
			wantRequests(t, a.table, test.want...)
			a.table.Unsubscribe(&a.sub)
			wantRequests(t, a.table)
		})
	}
}

// The session deletes a node that is missing: that fires no watch, so the existence watch of a persistent subscription
// is taken off when that ends.
func TestADeletionOfAMissingNodeLeavesItsWatchToTheSubscription(t *testing.T) {
	table := New()
	table.Attached(start, time.Second)
	var sub Subscription
	table.Subscribe(&sub, nodeKey, func() {}, Persistent, start)
	for range 2 { // the data is asked for, then the existence
		table.Answered(table.Requests()[0], Answer{Outcome: Missing}, start)
	}
	table.Removing(nodeKey.Path)
	table.Unsubscribe(&sub)
	wantRequests(t, table, RemoveData)
}

func TestWhatBecameKnownIsNotAskedForAgainAfterABusyAnswer(t *testing.T) {
	o := inState("asked")
	o.answer(Busy)
	o.table.Event(zk.EventNodeDeleted, "/n", start)
	o.table.AskAgain(start)
	wantRequests(t, o.table)
}

// The server is too busy to take a watch off. The next subscription finds the node missing, which sets none.
func TestAWatchThatABusyServerHasKeptGoesWithTheNextSubscription(t *testing.T) {
	table := New()
	table.Attached(start, time.Second)
	request := func(op Op) Request {
		t.Helper()
		requests := slices.Clone(table.Requests())
		if len(requests) != 1 || requests[0].Op != op {
			t.Fatalf("got requests %v, want %v", requests, op)
		}
		return requests[0]
	}
	var first, next Subscription
	table.Subscribe(&first, nodeKey, func() {}, Persistent, start)
	table.Answered(request(ReadData), Answer{Outcome: Missing}, start)
	table.Answered(request(ReadStat), Answer{Outcome: Missing}, start)
	table.Unsubscribe(&first)
	removal := request(RemoveData)
	table.Subscribe(&next, nodeKey, func() {}, Promptly, start)
	read := request(ReadData)
	table.Answered(removal, Answer{Outcome: Busy}, start)
	table.Answered(read, Answer{Outcome: Missing}, start)
	table.AskAgain(start)
	table.Unsubscribe(&first) // again
	wantRequests(t, table)
	table.Unsubscribe(&next)
	wantRequests(t, table, RemoveData)
}

// The watch by which a missing node is watched for a persistent subscription is spent when the node is created. There
// is nothing to take off then.
func TestASpentWatchIsNotTakenOff(t *testing.T) {
	o := inState("asked")
	persistent := o.subscribe(Persistent)
	o.answer(Missing)
	o.answer(Missing)
	o.table.Unsubscribe(persistent)
	o.table.Event(zk.EventNodeCreated, "/n", start)
	o.table.Unsubscribe(o.sub)
	wantRequests(t, o.table)
}

// awaitsCreation makes a persistent subscription to a missing node, whose existence the server watches.
func awaitsCreation() (*one, *Subscription) {
	o := &one{table: New()}
	o.table.Attached(start, time.Second)
	persistent := o.subscribe(Persistent)
	o.take()
	o.answer(Missing)
	o.answer(Missing) // to the request that watches the existence
	return o, persistent
}

// A missing node was watched for a persistent subscription, which has ended. It is created while another subscription
// asks for its existence again. The answer has no data, so the next persistent subscription has the node read.
func TestNodeCreatedDuringAReadOfItsExistenceIsReadForTheNextSubscription(t *testing.T) {
	o, persistent := awaitsCreation()
	prompt := o.subscribe(Promptly)
	o.take()
	o.answer(Missing)
	o.table.Unsubscribe(persistent)
	o.table.ReadAgain(prompt, start)
	o.take()
	o.table.Event(zk.EventNodeCreated, "/n", start)
	o.answer(Found)
	next := o.subscribe(Persistent)
	o.take()
	if got := o.table.View(next); got.Status == Present && got.Current {
		t.Errorf("got %+v without a read of the data", got)
	}
	if o.newest.Op != ReadData {
		t.Errorf("the newest request is of kind %d, want %d", o.newest.Op, ReadData)
	}
}

// The deletion deletes no node, and so takes no watch. A subscription that comes and goes meanwhile changes nothing.
func TestLastSubscriptionTakesTheWatchOnAMissingNodeOffDuringADeletion(t *testing.T) {
	o, persistent := awaitsCreation()
	o.table.Removing(nodeKey.Path)
	o.table.Unsubscribe(o.subscribe(Promptly))
	o.table.Unsubscribe(persistent)
	if o.take(); o.removed != 1 {
		t.Errorf("got %d requests that take the watch off, want 1", o.removed)
	}
}

// The server's watch was left by an earlier watch of the node, when the request that takes it off was refused.
func TestLastSubscriptionTakesOffDuringADeletionWhatABusyServerHasKept(t *testing.T) {
	o, persistent := awaitsCreation()
	o.table.Unsubscribe(persistent)
	for _, r := range o.table.Requests() {
		o.table.Answered(r, Answer{Outcome: Busy, Err: errors.New("an error")}, start)
	}
	prompt := o.subscribe(Promptly)
	o.take()
	o.answer(Missing)
	o.table.AskAgain(start)
	o.take()
	o.table.Removing(nodeKey.Path)
	o.table.Unsubscribe(prompt)
	if o.take(); o.removed != 1 {
		t.Errorf("got %d requests that take the watch off, want 1", o.removed)
	}
}

// The deletion of an existing node takes its watch, also one that watches the existence alone.
func TestDeletionTakesTheWatchOnAnUnreadableNode(t *testing.T) {
	o := &one{table: New()}
	o.table.Attached(start, time.Second)
	sub := o.subscribe(Promptly)
	o.take()
	o.answer(Forbidden)
	o.answer(Found) // to the request that watches the existence
	o.table.Removing(nodeKey.Path)
	o.table.Unsubscribe(sub)
	if o.take(); o.removed != 0 {
		t.Errorf("got %d requests that take the watch off, want none", o.removed)
	}
}
