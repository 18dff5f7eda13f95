package journaltest_test

import (
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/journaltest"
)

func TestAnEventIsALineWithoutGUIDs(t *testing.T) {
	const name = "_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000003"
	for _, c := range []struct {
		event      journaltest.Event
		lane, text string
	}{
		{
			journaltest.Event{Client: "A", Step: &steps.Step{Kind: steps.ByView, Node: name, Admitted: true, Names: []string{name}}},
			"A", "decided by view lock-0000000003 admitted [lock-0000000003]",
		},
		{journaltest.Event{Client: "A", Step: &steps.Step{Kind: steps.Listed, Names: []string{}, Zxid: 16}}, "A", "listed [] at 0x10"},
		{
			journaltest.Event{Client: "A", Step: &steps.Step{Kind: steps.Ended, Node: name, Hold: 2, Err: "released"}},
			"A", "ended lock-0000000003 hold 2 released",
		},
		{
			journaltest.Event{Transaction: &zktest.Transaction{Zxid: 17, Changes: []zktest.Change{{Kind: zktest.Created, Path: "/q/" + name}}}},
			"server", "0x11 created lock-0000000003",
		},
		{journaltest.Event{Transaction: &zktest.Transaction{Zxid: 18, Session: 5, EndsSession: true}}, "server", "0x12 session 0x5 ends"},
		{journaltest.Event{Transaction: &zktest.Transaction{Zxid: 19, Failed: true}}, "server", "0x13 refused"},
		{journaltest.Event{Killed: 5}, "server", "an administrator ends session 0x5"},
		{journaltest.Event{Client: "A", Orphan: "/q/" + name}, "A", "finds the orphan lock-0000000003"},
	} {
		if lane, text := c.event.Lane(), c.event.String(); lane != c.lane || text != c.text {
			t.Errorf("got %q, %q, want %q, %q", lane, text, c.lane, c.text)
		}
	}
}
