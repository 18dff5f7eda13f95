package journaltest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/journaltest"
)

func TestCheckWantsListingsThatEqualTheDirectory(t *testing.T) {
	one, two := creates("A", lock(1)), creates("B", lock(2))
	wrong := []event{one, two, lists("A", 2, lock(1))}
	last := 1<<31 - 1
	checkLaws(t, map[string]law{
		"of now": {
			keep:   []event{one, two, lists("A", 2, lock(2), lock(1))},
			breaks: wrong,
			says:   `A has listed /q at 0x2: got ["lock-0000000001"], want ["lock-0000000001" "lock-0000000002"]`,
		},
		"of before a creation": {
			keep:   []event{one, two, lists("A", 1, lock(1))},
			breaks: []event{one, two, lists("A", 1, lock(1), lock(2))},
			says:   `A has listed /q at 0x1: got ["lock-0000000001" "lock-0000000002"], want ["lock-0000000001"]`,
		},
		"of before a deletion": {
			keep:   []event{one, deletes("A", lock(1)), lists("A", 1, lock(1))},
			breaks: []event{one, deletes("A", lock(1)), lists("A", 1)},
			says:   `A has listed /q at 0x1: got [], want ["lock-0000000001"]`,
		},
		"of a directory that never had a child": {keep: []event{lists("A", 1, lock(1))}},
		"of a counter before its end": {
			keep:   []event{creates("A", lock(last-1)), lists("A", 1, lock(last-1))},
			breaks: []event{creates("A", lock(last-1)), lists("A", 1)},
			says:   `A has listed /q at 0x1: got [], want ["lock-2147483646"]`,
		},
		"of an ended counter":         {keep: []event{creates("A", lock(last)), creates("A", "other"), lists("A", 1)}},
		"of a counter beyond the end": {keep: []event{creates("A", lock(-1<<31)), lists("A", 1)}},
		"of a Keeper":                 {keep: wrong, servers: journaltest.Servers{Keeper: true}},
	})
}

func TestCheckWantsDeletionsThatWereExecuted(t *testing.T) {
	gone := does("A", steps.Gone, lock(1))
	checkLaws(t, map[string]law{
		"executed": {
			keep:   []event{creates("B", lock(1)), deletes("B", lock(1)), gone},
			breaks: []event{creates("B", lock(1)), creates("B", lock(2)), deletes("B", lock(2)), gone},
			says:   "A hears that /q/lock-0000000001 is gone, which exists",
		},
		"executed, and made again": {keep: []event{creates("B", lock(1)), deletes("B", lock(1)), creates("B", lock(1)), gone}},
		"of a node that never was": {keep: []event{creates("B", lock(2)), gone}},
		"in a session that is behind": {
			keep:   []event{creates("B", lock(1)), does("A", steps.Behind, ""), gone},
			breaks: []event{creates("B", lock(1)), does("C", steps.Behind, ""), gone},
			says:   "A hears that /q/lock-0000000001 is gone, which exists",
		},
	})
}

func TestCheckWantsDecisionsThatLackNoNodeAhead(t *testing.T) {
	one, two, three := creates("B", lock(1)), creates("A", lock(2)), creates("B", lock(3))
	lacks := "A: /q/lock-0000000002 decides (decided by view) without lock-0000000001, which is ahead"
	downgrade := []event{
		joins("B"), creates("B", writer(1)), does("B", steps.Queued, writer(1)), two,
		creates("B", reader(1)), deletes("B", writer(1)),
	}
	after := func(e event) []event { return append(slices.Clone(downgrade), e) }
	const doubtful = 1 << 30
	checkLaws(t, map[string]law{
		"a view": {
			keep:   []event{one, two, three, does("A", steps.ByView, lock(2), lock(1), lock(2))},
			breaks: []event{one, two, three, does("A", steps.ByView, lock(2), lock(2), lock(3))},
			says:   lacks,
		},
		"the own node": {
			keep:   []event{two, does("A", steps.ByListing, lock(2), lock(2))},
			breaks: []event{two, admits("A", steps.ByListing, lock(2))},
			says:   "A: /q/lock-0000000002 decides (decided by listing) without itself",
		},
		"a number": {
			keep:   []event{two, admits("A", steps.ByNumber, lock(2), lock(2))},
			breaks: []event{one, two, does("A", steps.ByNumber, lock(2), lock(2))},
			says:   "A: /q/lock-0000000002 decides (decided by number) without lock-0000000001, which is ahead",
		},
		"a node of no marker": {keep: []event{creates("B", "other0000000001"), two, admits("A", steps.ByView, lock(2), lock(2))}},
		"a negative number":   {keep: []event{creates("B", lock(-5)), two, does("A", steps.ByView, lock(2), lock(2))}},
		"a node that is gone": {keep: []event{one, two, deletes("B", lock(1)), does("A", steps.ByView, lock(2), lock(1), lock(2))}},
		"nodes of the directory made once more": {
			keep: []event{two, deletes("A", lock(2)), creates("B", lock(1)), does("A", steps.ByListing, lock(2), lock(2))},
		},
		"no order any more": {
			keep:   []event{one, creates("A", lock(doubtful)), admits("A", steps.ByListing, lock(doubtful), lock(doubtful))},
			breaks: []event{one, creates("A", lock(doubtful-1)), does("A", steps.ByListing, lock(doubtful-1), lock(doubtful-1))},
			says:   "A: /q/lock-1073741823 decides (decided by listing) without lock-0000000001, which is ahead",
		},
		"a reader behind a reader": {
			keep:   []event{creates("B", reader(1)), creates("A", reader(2)), admits("A", steps.ByView, reader(2), reader(2))},
			breaks: []event{creates("B", writer(1)), creates("A", reader(2)), does("A", steps.ByView, reader(2), reader(2))},
			says:   "A: /q/__READ__0000000002 decides (decided by view) without __WRIT__0000000001, which is ahead",
		},
		"a reader in the place of a writer that is known": {
			keep:   after(does("A", steps.ByView, lock(2), writer(1), lock(2))),
			breaks: after(does("A", steps.ByView, lock(2), lock(2))),
			says:   "A: /q/lock-0000000002 decides (decided by view) without __READ__0000000001, which is ahead",
		},
		"admitted in front": {
			keep:   []event{one, two, deletes("B", lock(1)), admits("A", steps.ByListing, lock(2), lock(2))},
			breaks: []event{one, two, admits("A", steps.ByListing, lock(2), lock(1), lock(2))},
			says:   "A: /q/lock-0000000002 is admitted (decided by listing) behind lock-0000000001",
		},
		"admitted behind a reader in the place of a writer": {
			keep:   after(deletes("B", reader(1))),
			breaks: after(admits("A", steps.ByView, lock(2), reader(1), lock(2))),
			says:   "A: /q/lock-0000000002 is admitted (decided by view) behind __READ__0000000001",
		},
	})
}

func TestCheckWantsGrantsThatExcludeEachOtherOneAfterTheOther(t *testing.T) {
	a, b := does("A", steps.Granted, lock(1)), does("B", steps.Granted, lock(2))
	begin := []event{joins("A"), joins("B"), creates("A", lock(1)), a}
	after := func(more ...event) []event { return slices.Concat(begin, more) }
	beside := "B: /q/lock-0000000002 is granted beside lock-0000000001 of A, at event 4, 00:05.000000"
	checkLaws(t, map[string]law{
		"the other has ended": {
			keep:   after(does("A", steps.Ended, lock(1)), b),
			breaks: after(b),
			says:   beside,
		},
		"the other notices later that it had ended": {
			keep:   after(b, ends("A", lock(1), 5)),
			breaks: after(b, ends("A", lock(1), 5.0001)),
			says:   beside,
		},
		"the other ends by a clock that rounds": {
			keep:    after(b, ends("A", lock(1), 5.0001)),
			breaks:  after(b, ends("A", lock(1), 5.002)),
			says:    beside,
			servers: journaltest.Servers{Accuracy: time.Millisecond},
		},
		"ended before it was registered": {keep: []event{joins("A"), joins("B"), does("A", steps.Ended, lock(1)), a, b}},
		"the newer has ended before it was registered": {
			keep: []event{joins("A"), joins("B"), a, does("B", steps.Ended, lock(2)), b},
		},
		"the node of the other is removed by a third": {
			keep: after(changes("C", zktest.Deleted, "A", lock(1)), b),
		},
		"two readers": {keep: []event{
			joins("A"), joins("B"), does("A", steps.Granted, reader(1)), does("B", steps.Granted, reader(2)),
		}},
		"a reader in the place of its writer": {
			keep:   []event{joins("A"), does("A", steps.Granted, writer(1)), does("A", steps.Granted, reader(1))},
			breaks: []event{joins("A"), does("A", steps.Granted, writer(1)), does("A", steps.Granted, reader(2))},
			says:   "A: /q/__READ__0000000002 is granted beside __WRIT__0000000001 of A, at event 2, 00:03.000000",
		},
		"a reader of another session": {
			keep: []event{joins("A"), joins("B"), does("A", steps.Granted, writer(1))},
			breaks: []event{
				joins("A"), joins("B"), does("A", steps.Granted, writer(1)), does("B", steps.Granted, reader(1)),
			},
			says: "B: /q/__READ__0000000001 is granted beside __WRIT__0000000001 of A, at event 3, 00:04.000000",
		},
		"a hold over its node's grant": {
			keep:   after(hold(1, does("A", steps.Granted, lock(1)))),
			breaks: after(hold(1, does("A", steps.Granted, lock(1))), hold(2, does("A", steps.Granted, lock(1)))),
			says:   "A: /q/lock-0000000001 is granted beside lock-0000000001 of A, at event 5, 00:06.000000",
		},
		"one hold after another": {keep: after(
			hold(1, does("A", steps.Granted, lock(1))), hold(1, does("A", steps.Ended, lock(1))),
			hold(2, does("A", steps.Granted, lock(1))),
		)},
		"leases of a semaphore, in a queue without a view": {keep: []event{a, b}},
		"of another directory":                             {keep: after(joins("B"), elsewhere(joins("B")), elsewhere(b))},
	})
}

func elsewhere(e event) event {
	s := *e.Step
	s.Dir = "/other"
	e.Step = &s
	return e
}

func TestCheckCountsALocalQueue(t *testing.T) {
	local := func(queue string, kind steps.Kind) event {
		return event{Client: "A", Step: &step{Kind: kind, Dir: dir, Local: queue}}
	}
	checkLaws(t, map[string]law{
		"waiters": {
			keep:   []event{local("x", steps.Waits), local("x", steps.Waits), local("x", steps.Leaves), local("x", steps.Leaves)},
			breaks: []event{local("x", steps.Waits), local("y", steps.Leaves), local("y", steps.Waits)},
			says:   "A: more acquires have left the local queue of /q than entered it",
		},
		"an idle node": {
			keep:   []event{local("x", steps.Idle), local("y", steps.Idle), local("x", steps.Woken), local("x", steps.Idle)},
			breaks: []event{local("x", steps.Idle), local("x", steps.Idle)},
			says:   "A: the node of /q is idle twice",
		},
		"a node that is taken out": {
			keep:   []event{local("x", steps.Idle), local("x", steps.Woken)},
			breaks: []event{local("x", steps.Woken)},
			says:   "A: the node of /q is woken twice",
		},
	})
}
