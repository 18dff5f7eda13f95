package nodestest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes/nodestest"
)

const path = "/dir/id"

func at(second int) time.Time { return time.Unix(int64(second), 0) }

type log = []zktest.Transaction

// transaction has a session make changes: '+' creates the node, '-' deletes it, and '=' writes it.
func transaction(second int, session int64, changes string, owner int64) zktest.Transaction {
	t := zktest.Transaction{At: at(second), Session: session}
	for _, c := range changes {
		kind := map[rune]zktest.ChangeKind{'+': zktest.Created, '-': zktest.Deleted, '=': zktest.DataSet}[c]
		t.Changes = append(t.Changes, zktest.Change{Kind: kind, Path: path, Owner: owner})
	}
	return t
}

func ended(second int, session int64) zktest.Transaction {
	t := transaction(second, session, "-", session)
	t.EndsSession = true
	return t
}

// The sessions 1 and 2 are of process A, 3 is of process B, and 9 of an administrator.
func processOf(session int64) string { return map[int64]string{1: "A", 2: "A", 3: "B"}[session] }

func TestAHistoryIsJudgedByTheLaws(t *testing.T) {
	const silence = 10 * time.Second
	kept := []nodestest.Claim{{Process: "A", Path: path, From: at(1), Until: at(100)}}
	departed := []nodestest.Departure{{Process: "A", At: at(20)}}
	stopped := []nodestest.Departure{{Process: "A", At: at(20), Until: at(25)}}
	type judge func(h *nodestest.History)
	replacements := func(h *nodestest.History) { h.CheckReplacements(kept) }
	departures := func(all []nodestest.Departure, touched ...time.Time) judge {
		return func(h *nodestest.History) { h.CheckDepartures(all, silence, touched) }
	}
	closing := func(h *nodestest.History) {
		h.CheckClosings([]nodestest.Closing{{Process: "A", Path: path, Called: at(20), Returned: at(21)}})
	}
	gaps := func(h *nodestest.History) { h.CheckGaps(kept, stopped, time.Second) }
	former := func(h *nodestest.History) { h.CheckFormer(kept, stopped, map[int64]bool{3: true}, time.Second) }
	created := transaction(0, 1, "+", 1)
	for name, c := range map[string]struct {
		then  log
		judge judge
		want  string // "" if nothing is wrong
	}{
		"its owner deletes it":             {log{transaction(5, 1, "-", 1)}, nil, ""},
		"its owner's next session writes":  {log{transaction(5, 2, "=", 1)}, nil, ""},
		"a stranger deletes it":            {log{transaction(5, 3, "-", 1)}, nil, "law 4: "},
		"a stranger writes it":             {log{transaction(5, 3, "=", 1)}, nil, "law 4: "},
		"a stranger replaces it":           {log{transaction(5, 3, "-+", 3)}, nil, "law 4: "},
		"an administrator deletes it":      {log{transaction(5, 9, "-", 1)}, nil, ""},
		"the next one's, right after hand": {log{transaction(5, 9, "-", 1), transaction(5, 3, "+", 3), transaction(6, 1, "-", 3)}, nil, ""},
		"the next one's, of other version": {log{transaction(5, 9, "-", 1), transaction(5, 3, "+", 3), transaction(5, 3, "=", 3), transaction(6, 1, "-", 3)}, nil, "law 4: "},
		"the next one's, later":            {log{transaction(5, 9, "-", 1), transaction(5, 3, "+", 3), transaction(9, 1, "-", 3)}, nil, "law 4: "},

		"replaced at once":                {log{transaction(5, 2, "-+", 2)}, replacements, ""},
		"replaced in two transactions":    {log{transaction(5, 2, "-", 1), transaction(5, 2, "+", 2)}, replacements, "law 6: "},
		"deleted after the call of Close": {log{transaction(101, 1, "-", 1)}, replacements, ""},

		"gone in time":                               {log{ended(30, 1)}, departures(departed), ""},
		"gone late":                                  {log{ended(31, 1)}, departures(departed), "law 2: "},
		"never gone":                                 {nil, departures(departed), "law 2: "},
		"gone in time after an election":             {log{ended(35, 1)}, departures(departed, at(26)), ""},
		"gone late after an election":                {log{ended(37, 1)}, departures(departed, at(26)), "law 2: "},
		"an election that came too late":             {log{ended(35, 1)}, departures(departed, at(32)), "law 2: "},
		"there, and its process runs":                {nil, departures(stopped), ""},
		"gone when Close returns":                    {log{transaction(20, 1, "-", 1)}, closing, ""},
		"there when Close returns":                   {log{transaction(22, 1, "-", 1)}, closing, "law 2: "},
		"a late one when Close returns":              {log{transaction(5, 1, "-", 1), transaction(21, 1, "+", 1)}, closing, ""},
		"made again in time":                         {log{transaction(5, 9, "-", 1), transaction(6, 1, "+", 1)}, gaps, ""},
		"made again late":                            {log{transaction(5, 9, "-", 1), transaction(7, 1, "+", 1)}, gaps, "law 1: "},
		"never made again":                           {log{transaction(5, 9, "-", 1)}, gaps, "law 1: "},
		"made again after it was stopped":            {log{ended(21, 1), transaction(26, 2, "+", 2)}, gaps, ""},
		"its session ends while it is stopped":       {log{ended(22, 1)}, former, ""},
		"its session ends while it runs":             {log{ended(30, 1)}, former, "law 6: "},
		"its session ends before it was stopped":     {log{ended(19, 1)}, former, "law 6: "},
		"an administrator ends the session of B too": {log{transaction(5, 1, "-", 1), transaction(6, 3, "+", 3), ended(30, 3)}, former, ""},
	} {
		h := nodestest.NewHistory("/dir", append([]zktest.Transaction{created}, c.then...), processOf)
		if c.judge != nil {
			c.judge(h)
		}
		got := strings.Join(h.Problems(), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestAHistoryHasTheNodesOfItsDirectoryAlone(t *testing.T) {
	var all []zktest.Transaction
	for _, path := range []string{"/dir", "/dir/id", "/dir/id/below", "/directory/id"} {
		all = append(all, zktest.Transaction{At: at(0), Session: 1, Changes: []zktest.Change{{Kind: zktest.Created, Path: path, Owner: 1}}})
	}
	h := nodestest.NewHistory("/dir", all, processOf)
	for path, want := range map[string]bool{"/dir": false, "/dir/id": true, "/dir/id/below": false, "/directory/id": false} {
		if got := h.Last(path) != nil; got != want {
			t.Errorf("%s: got %s, want %s", path, fmt.Sprint(got), fmt.Sprint(want))
		}
	}
}
