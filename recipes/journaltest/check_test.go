package journaltest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/journaltest"
)

type (
	event = journaltest.Event
	step  = journaltest.Step
)

const (
	dir     = "/q"
	markers = "__READ__/true/__WRIT__/false/lock-/false/"
)

// A law has events that keep it, some that break it, and what the journal says of those.
type law struct {
	keep, breaks []event
	says         string
	servers      journaltest.Servers
}

func checkLaws(t *testing.T, laws map[string]law) {
	t.Helper()
	for name, law := range laws {
		for _, problem := range journaltest.Check(play(law.keep), law.servers) {
			t.Errorf("%s: got the problem %v, want none", name, problem)
		}
		if law.breaks == nil {
			continue
		}
		problems := journaltest.Check(play(law.breaks), law.servers)
		if len(problems) != 1 {
			t.Errorf("%s: got the problems %v, want one", name, problems)
			continue
		}
		if _, got, _ := strings.Cut(problems[0].Error(), ": "); got != law.says {
			t.Errorf("%s: got the problem\n%s, want\n%s", name, got, law.says)
		}
	}
}

// play gives each event its time, and each transaction its zxid: those of event 1 are a second and 1. A lease that has
// ended lasted until the event.
func play(events []event) []event {
	events = slices.Clone(events)
	for i := range events {
		e := &events[i]
		e.At = at(float64(i + 1))
		if e.Transaction != nil {
			transaction := *e.Transaction
			transaction.Zxid, transaction.At = int64(i+1), e.At
			e.Transaction = &transaction
		}
		if e.Step != nil && e.Step.Kind == steps.Ended && e.Step.Until.IsZero() {
			s := *e.Step
			s.Until = e.At
			e.Step = &s
		}
	}
	return events
}

func at(second float64) time.Time {
	return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(second * float64(time.Second)))
}

func lock(number int) string   { return fmt.Sprintf("lock-%010d", number) }
func reader(number int) string { return fmt.Sprintf("__READ__%010d", number) }
func writer(number int) string { return fmt.Sprintf("__WRIT__%010d", number) }

// sessionOf is the session of a client, whose name has one letter.
func sessionOf(client string) int64 { return int64(client[0]) }

func does(client string, kind steps.Kind, node string, names ...string) event {
	return event{Client: client, Step: &step{
		Kind: kind, Dir: dir, Node: node, Session: sessionOf(client), Markers: markers, Names: names,
	}}
}

func joins(client string) event { return does(client, steps.Joined, "") }

func lists(client string, zxid int64, names ...string) event {
	e := does(client, steps.Listed, "", names...)
	e.Step.Zxid = zxid
	return e
}

// admits is a decision that lets the node in.
func admits(client string, kind steps.Kind, node string, names ...string) event {
	e := does(client, kind, node, names...)
	e.Step.Admitted = true
	return e
}

// ends is the end of a lease that lasted until a moment before or after the event.
func ends(client, node string, until float64) event {
	e := does(client, steps.Ended, node)
	e.Step.Until = at(until)
	return e
}

// hold makes a step one of a hold over the node.
func hold(number int64, e event) event {
	e.Step.Hold = number
	return e
}

func creates(client, node string) event { return changes(client, zktest.Created, client, node) }

func deletes(client, node string) event { return changes(client, zktest.Deleted, client, node) }

// changes is a transaction that client sends about a node of owner's.
func changes(client string, kind zktest.ChangeKind, owner, node string) event {
	return event{Transaction: &zktest.Transaction{
		Session: sessionOf(client), Changes: []zktest.Change{{Kind: kind, Path: dir + "/" + node, Owner: sessionOf(owner)}},
	}}
}

func endsSession(client, node string) event {
	e := deletes(client, node)
	e.Transaction.EndsSession = true
	return e
}

func TestCheckHasALeaseEndBeforeItsNodeIsRemoved(t *testing.T) {
	begin := []event{joins("A"), creates("A", lock(1)), does("A", steps.Queued, lock(1)), does("A", steps.Granted, lock(1))}
	after := func(more ...event) []event { return slices.Concat(begin, more) }
	const (
		early = "A: the lease of /q/lock-0000000001 ends at 00:07.000000, its session removes the node at 00:06.000000"
		late  = "A: the lease of /q/lock-0000000001 ends at 00:06.000000, its session removes the node at 00:05.000000"
	)
	checkLaws(t, map[string]law{
		"ended before": {
			keep:   after(does("A", steps.Ended, lock(1)), deletes("A", lock(1))),
			breaks: after(ends("A", lock(1), 7), deletes("A", lock(1))),
			says:   early,
		},
		"noticed after": {
			keep:   after(deletes("A", lock(1)), ends("A", lock(1), 4.9)),
			breaks: after(deletes("A", lock(1)), ends("A", lock(1), 6)),
			says:   late,
		},
		"of logs that round": {
			keep:    after(deletes("A", lock(1)), ends("A", lock(1), 5.001)),
			breaks:  after(deletes("A", lock(1)), ends("A", lock(1), 6)),
			says:    late,
			servers: journaltest.Servers{Accuracy: time.Millisecond},
		},
		"never ended": {
			keep:   after(),
			breaks: after(deletes("A", lock(1))),
			says:   "A: the lease of /q/lock-0000000001 has not ended, its session removes the node at 00:05.000000",
		},
		"at the end of the session": {
			keep:   after(does("A", steps.Ended, lock(1)), endsSession("A", lock(1))),
			breaks: after(endsSession("A", lock(1)), ends("A", lock(1), 6)),
			says:   late,
		},
		"session ended by an administrator": {
			keep:   after(event{Killed: sessionOf("A")}, endsSession("A", lock(1)), ends("A", lock(1), 9)),
			breaks: after(event{Killed: sessionOf("A")}, deletes("A", lock(1)), ends("A", lock(1), 7)),
			says:   early,
		},
		"node removed by another session": {
			keep: after(changes("B", zktest.Deleted, "A", lock(1)), ends("A", lock(1), 9)),
		},
	})
}

func TestCheckWantsOrphansReported(t *testing.T) {
	const node = "/q/lock-0000000001"
	unreported := []event{joins("A"), creates("A", lock(1)), deletes("A", lock(1))}
	says := node + ", of a create that was not answered, is removed at event 2 and not reported"
	heard := func(kind steps.Kind) []event {
		return []event{joins("A"), creates("A", lock(1)), does("A", kind, lock(1)), deletes("A", lock(1))}
	}
	checkLaws(t, map[string]law{
		"reported before": {keep: slices.Insert(slices.Clone(unreported), 2, event{Orphan: node}), breaks: unreported, says: says},
		"reported after":  {keep: append(slices.Clone(unreported), event{Orphan: node})},
		"heard of":        {keep: heard(steps.Created), breaks: heard(steps.Unqueued), says: strings.Replace(says, "event 2", "event 3", 1)},
		"queued":          {keep: heard(steps.Queued)},
		"without a view":  {keep: unreported[1:]},
		"with a view of another session": {
			keep: []event{joins("B"), creates("A", lock(1)), deletes("A", lock(1))},
		},
		"view dropped since": {
			keep:   heard(steps.Dropped),
			breaks: slices.Insert(slices.Clone(unreported), 2, joins("B"), does("B", steps.Dropped, "")),
			says:   strings.Replace(says, "event 2", "event 4", 1),
		},
		"another's node": {
			keep: []event{joins("A"), creates("A", lock(1)), changes("B", zktest.Deleted, "A", lock(1))},
		},
		"with the session": {keep: []event{joins("A"), creates("A", lock(1)), endsSession("A", lock(1))}},
		"a reader in the place of a writer": {
			keep: []event{
				joins("A"), creates("A", writer(1)), does("A", steps.Queued, writer(1)),
				creates("A", reader(1)), deletes("A", reader(1)),
			},
			breaks: []event{
				joins("A"), creates("A", writer(1)), does("A", steps.Queued, writer(1)),
				creates("A", reader(2)), deletes("A", reader(2)),
			},
			says: "/q/__READ__0000000002, of a create that was not answered, is removed at event 4 and not reported",
		},
		"no node of a session": {
			keep: []event{
				joins("A"), {Transaction: &zktest.Transaction{Session: 'A', Changes: []zktest.Change{
					{Kind: zktest.Created, Path: "/q/x"}, {Kind: zktest.DataSet, Path: "/q/x"}, {Kind: zktest.Deleted, Path: "/q/x"},
				}}},
			},
		},
	})
}

func TestLeftNamesWhatClientsHave(t *testing.T) {
	local := func(kind steps.Kind) event {
		return event{Client: "A", Step: &step{Kind: kind, Dir: dir, Local: "local"}}
	}
	ofDirectory := func(kind steps.Kind) event { return event{Client: "A", Step: &step{Kind: kind, Dir: "/", Node: "q"}} }
	for name, test := range map[string]struct {
		left string
		has  []event
		ends event
	}{
		"a view":       {"view of /q", []event{joins("A")}, does("A", steps.Dropped, "")},
		"a node":       {"node lock-0000000001 in /q", []event{does("A", steps.Queued, lock(1))}, does("A", steps.Unqueued, lock(1))},
		"a grant":      {"grant of lock-0000000001 in /q", []event{does("A", steps.Granted, lock(1))}, does("A", steps.Ungranted, lock(1))},
		"a hold":       {"grant of lock-0000000001 in /q", []event{hold(1, does("A", steps.Granted, lock(1)))}, hold(1, does("A", steps.Ungranted, lock(1)))},
		"a refusal":    {"refusal of /q", []event{ofDirectory(steps.Refused)}, ofDirectory(steps.Accepted)},
		"a waiter":     {"1 waiters, idle node: false, at /q", []event{local(steps.Waits)}, local(steps.Leaves)},
		"an idle node": {"0 waiters, idle node: true, at /q", []event{local(steps.Idle)}, local(steps.Woken)},
		"an ended grant": {
			"grant of lock-0000000001 in /q",
			[]event{does("A", steps.Granted, lock(1)), does("A", steps.Ended, lock(1))},
			does("A", steps.Ungranted, lock(1)),
		},
	} {
		if got, want := journaltest.Left(play(test.has)), []string{test.left}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q left, want %q", name, got, want)
		}
		others := test.ends
		others.Client = "B"
		if got := journaltest.Left(play(append(slices.Clone(test.has), others))); !slices.Contains(got, test.left) {
			t.Errorf("%s, and another client's end: got %q left, want %q among them", name, got, test.left)
		}
		if got := journaltest.Left(play(append(slices.Clone(test.has), test.ends))); len(got) != 0 {
			t.Errorf("%s, and its end: got %q left, want nothing", name, got)
		}
	}
	all := []event{joins("A"), does("A", steps.Queued, lock(2)), does("A", steps.Queued, lock(1)), creates("A", lock(1))}
	want := []string{"node lock-0000000001 in /q", "node lock-0000000002 in /q", "view of /q"}
	if got := journaltest.Left(all); !slices.Equal(got, want) {
		t.Errorf("got %q left, want %q, sorted", got, want)
	}
}
