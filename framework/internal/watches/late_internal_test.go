package watches

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

func TestWatchesAreReadAgainWhenTheWaitHasDoubled(t *testing.T) {
	const timeout = time.Minute
	for _, c := range []struct{ read, due time.Duration }{
		{0, timeout},
		{timeout / 2, 3 * timeout / 2},
		{timeout, 2 * timeout},
		{2 * timeout, 4 * timeout},
		{63 * timeout, 126 * timeout},
		{64 * timeout, 128 * timeout},
		{1000 * timeout, 1064 * timeout},
	} {
		if got := readDue(start, start.Add(c.read), timeout).Sub(start); got != c.due {
			t.Errorf("read after %v: got the next read after %v, want %v", c.read, got, c.due)
		}
	}
}

func TestAWatchIsReadLaterAndLater(t *testing.T) {
	o := inState("set")
	var got []time.Duration
	for now := start; len(got) < 5 && now.Sub(start) < time.Hour; {
		wait := o.table.ReadLate(now)
		if o.take(); o.asked > 0 {
			got = append(got, now.Sub(start))
			o.answer(Found)
			o.asked = 0
		}
		now = now.Add(wait)
	}
	want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}
	if !slices.Equal(got, want) {
		t.Errorf("got reads after %v, want %v", got, want)
	}
}

// The event that says that a node was created may be lost, too: a subscriber that waits for it needs a read.
func TestAMissingNodeIsReadAgainForPersistentSubscribers(t *testing.T) {
	for _, c := range []struct {
		how  Manner
		want int
	}{{Persistent, 1}, {Promptly, 0}} {
		o := &one{table: New()}
		o.table.Attached(start, time.Second)
		o.subscribe(c.how)
		o.take()
		o.answer(Missing)
		if c.how == Persistent { // asked by existence now
			o.answer(Missing)
		}
		o.asked = 0
		o.table.ReadLate(start.Add(time.Minute))
		if o.take(); o.asked != c.want {
			t.Errorf("manner %d: got %d reads of a missing node, want %d", c.how, o.asked, c.want)
		}
	}
}

// The first subscriber has waited for long. The second may be waiting for the very event that was lost.
func TestANodeIsReadAgainForANewSubscriberAfterASessionTimeout(t *testing.T) {
	o := inState("set")
	now := start
	for now.Sub(start) < 17*time.Second {
		now = now.Add(time.Second)
		o.table.ReadLate(now)
		if o.take(); o.asked > 0 {
			o.answer(Found)
			o.asked = 0
		}
	}
	o.table.Subscribe(new(Subscription), nodeKey, func() {}, Promptly, now)
	o.take()
	o.table.ReadLate(now.Add(time.Second))
	if o.take(); o.asked != 1 {
		t.Errorf("got %d reads a session timeout after the second subscriber came, want 1", o.asked)
	}
}

// Whoever has many such watches sets them again a few at a time, and looks for lost events by itself.
func TestABriefSubscriptionEndsWithItsConnectionAndIsNotReadLate(t *testing.T) {
	o := inStateFor(Briefly, "set")
	other := o.subscribe(Promptly)
	o.table.ReadLate(start.Add(time.Hour))
	if o.take(); o.asked != 1 || o.state() != "checking" {
		t.Errorf("got %d reads, state %s, want a read for the subscription beside the brief one", o.asked, o.state())
	}
	o.answer(Found)
	o.table.Unsubscribe(other)
	o.asked, o.woken = 0, 0
	o.table.ReadLate(start.Add(2 * time.Hour))
	o.table.Detached()
	o.table.Attached(start, time.Second)
	late := o.subscribe(Briefly)
	o.take()
	o.answer(Found)
	if view := o.table.View(o.sub); !errors.Is(view.Err, session.ErrConnectionLost) || o.asked != 1 || o.woken != 2 || !o.table.View(late).Current {
		t.Errorf("got %+v, %d requests, %d wakes; want a lost connection, 1 request and 2 wakes of the loss and the answer", view, o.asked, o.woken)
	}
	o.table.Detached()
	if o.sub = o.subscribe(Briefly); !errors.Is(o.table.View(o.sub).Err, session.ErrConnectionLost) || !o.table.IsEmpty() {
		t.Errorf("got %+v without a connection, want that", o.table.View(o.sub))
	}
}

func TestNodesThatAreDueTogetherAreReadOverASessionTimeout(t *testing.T) {
	const nodes = 1600
	table := New()
	table.Attached(start, time.Second)
	for i := range nodes {
		table.Subscribe(new(Subscription), Key{Path: fmt.Sprint("/", i)}, func() {}, Promptly, start)
	}
	answer := func(now time.Time) (n int) {
		for _, r := range slices.Clone(table.Requests()) {
			table.Answered(r, Answer{Stat: &zk.Stat{}}, now)
			n++
		}
		return n
	}
	answer(start)
	read := 0
	for now := start.Add(time.Second); now.Before(start.Add(2 * time.Second)); {
		wait := table.ReadLate(now)
		n := answer(now)
		if read += n; n > nodes/looks+1 {
			t.Fatalf("got %d reads at one time, want at most %d", n, nodes/looks+1)
		}
		now = now.Add(wait)
	}
	if read != nodes {
		t.Errorf("got %d reads in the session timeout, want %d", read, nodes)
	}
}

// Beside them others are due, of which a look reads as many as it may.
func TestDoubtfulNodesAreReadTogether(t *testing.T) {
	const nodes = 200
	table := New()
	table.Attached(start, time.Second)
	for i := range nodes {
		table.SubscribeSince(asOf, []Since{{Sub: new(Subscription), Wake: func() {}, Path: fmt.Sprint("/", i), Readable: true, Doubtful: true}}, true, start)
		table.Subscribe(new(Subscription), Key{Path: fmt.Sprint("/read/", i)}, func() {}, Promptly, start.Add(-7*time.Second/8))
	}
	for _, r := range slices.Clone(table.Requests()) {
		table.Answered(r, Answer{Stat: &zk.Stat{}}, start)
	}
	table.ReadLate(start.Add(time.Second / 8))
	if n := len(table.Requests()); n != nodes+mostLate {
		t.Errorf("got %d reads after an eighth of the session timeout, want %d and %d of others", n, nodes, mostLate)
	}
}
