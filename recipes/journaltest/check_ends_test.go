package journaltest_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/journaltest"
)

const (
	endsDir    = "/ends"
	endsNode   = "x-lock-0000000001"
	endsClient = "client"
)

// endsAt is a time in milliseconds and tenths.
func endsAt(tenths int) time.Time {
	return time.Unix(100, int64(tenths)*int64(time.Millisecond/10)).UTC()
}

func endsStep(tenths int, s steps.Step) journaltest.Event {
	s.Dir, s.Node, s.Session, s.Markers = endsDir, endsNode, 7, "lock-/false/"
	return journaltest.Event{At: endsAt(tenths), Client: endsClient, Step: &s}
}

// endsTransaction is one of session 7.
func endsTransaction(tenths int, kind zktest.ChangeKind, ends bool) journaltest.Event {
	return journaltest.Event{At: endsAt(tenths), Transaction: &zktest.Transaction{
		Zxid: int64(tenths), At: endsAt(tenths), Session: 7, EndsSession: ends,
		Changes: []zktest.Change{{Kind: kind, Path: endsDir + "/" + endsNode, Owner: 7}},
	}}
}

// A holder's session ends, and its lease ends later or never.
func TestLeaseThatOutlivesItsSessionIsAProblemUnlessItsEndCameFromOutside(t *testing.T) {
	killed := func(tenths int) journaltest.Event { return journaltest.Event{At: endsAt(tenths), Killed: 7} }
	died := journaltest.Event{At: endsAt(25), Client: endsClient, Died: true}
	begin := []journaltest.Event{
		endsTransaction(10, zktest.Created, false), endsStep(11, steps.Step{Kind: steps.Joined}),
		endsStep(12, steps.Step{Kind: steps.Created}), endsStep(13, steps.Step{Kind: steps.Granted}),
	}
	late := endsStep(90, steps.Step{Kind: steps.Ended, Until: endsAt(90)})
	for name, test := range map[string]struct {
		then []journaltest.Event
		want int
	}{
		"the session expires":                         {[]journaltest.Event{endsTransaction(30, zktest.Deleted, true), late}, 1},
		"an administrator ends it":                    {[]journaltest.Event{killed(29), endsTransaction(30, zktest.Deleted, true), late}, 0},
		"an administrator, within the accuracy":       {[]journaltest.Event{endsTransaction(30, zktest.Deleted, true), killed(39), late}, 0},
		"an administrator, too late":                  {[]journaltest.Event{endsTransaction(30, zktest.Deleted, true), killed(41), late}, 1},
		"an administrator, but the client removes it": {[]journaltest.Event{killed(29), endsTransaction(30, zktest.Deleted, false), late}, 1},
		"the process goes on without an end":          {[]journaltest.Event{endsTransaction(30, zktest.Deleted, true)}, 1},
		"the process dies":                            {[]journaltest.Event{died, endsTransaction(30, zktest.Deleted, true)}, 0},
		"another process dies": {[]journaltest.Event{
			{At: endsAt(25), Client: "another", Died: true}, endsTransaction(30, zktest.Deleted, true),
		}, 1},
	} {
		events := append(append([]journaltest.Event{}, begin...), test.then...)
		if got := journaltest.Check(events, journaltest.Servers{Accuracy: time.Millisecond}); len(got) != test.want {
			t.Errorf("%s: got the problems %v, want %d", name, got, test.want)
		}
	}
}

func TestLeaseOfADeadProcessKeepsNoOtherOut(t *testing.T) {
	holder := []journaltest.Event{endsStep(11, steps.Step{Kind: steps.Joined}), endsStep(13, steps.Step{Kind: steps.Granted})}
	died := journaltest.Event{At: endsAt(25), Client: endsClient, Died: true}
	next := endsStep(30, steps.Step{Kind: steps.Granted})
	next.Client, next.Step.Node = "next", "x-lock-0000000002"
	joined := endsStep(20, steps.Step{Kind: steps.Joined})
	joined.Client = "next"
	for name, test := range map[string]struct {
		events []journaltest.Event
		want   int
	}{
		"it lives":                       {[]journaltest.Event{joined, next}, 1},
		"it dies before the next":        {[]journaltest.Event{joined, died, next}, 0},
		"its death is known afterwards":  {[]journaltest.Event{joined, next, died}, 0},
		"its lease has an end that late": {[]journaltest.Event{joined, next, endsStep(50, steps.Step{Kind: steps.Ended, Until: endsAt(50)})}, 1},
	} {
		if got := journaltest.Check(append(append([]journaltest.Event{}, holder...), test.events...), journaltest.Servers{}); len(got) != test.want {
			t.Errorf("%s: got the problems %v, want %d", name, got, test.want)
		}
	}
}

// The client removes a node. It has heard of it before, or never.
func TestNodeThatIsRemovedUnheardIsAProblem(t *testing.T) {
	begin := []journaltest.Event{endsStep(9, steps.Step{Kind: steps.Joined}), endsTransaction(10, zktest.Created, false), endsTransaction(20, zktest.Deleted, false)}
	for name, test := range map[string]struct {
		then journaltest.Event
		want int
	}{
		"it was never heard of":               {endsStep(40, steps.Step{Kind: steps.Dropped}), 1},
		"it was heard of within the accuracy": {endsStep(29, steps.Step{Kind: steps.Created}), 0},
		"it was heard of later":               {endsStep(30, steps.Step{Kind: steps.Created}), 1},
		"it was reported":                     {journaltest.Event{At: endsAt(40), Client: endsClient, Orphan: endsDir + "/" + endsNode}, 0},
		"the process died":                    {journaltest.Event{At: endsAt(40), Client: endsClient, Died: true}, 0},
	} {
		if got := journaltest.Check(append(append([]journaltest.Event{}, begin...), test.then), journaltest.Servers{Accuracy: time.Millisecond}); len(got) != test.want {
			t.Errorf("%s: got the problems %v, want %d", name, got, test.want)
		}
	}
}
