package watches

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/zktest/explore"
)

// The model is the real Table beside a simple server, with what is on its way between them in order. In each state it
// checks the invariants of doc.go; and from each, answers and events alone must lead to a state in which every
// subscription knows what is there, was woken for it, and the server has no watch that nothing needs. The random
// histories (table_fuzz_internal_test.go) walk through wider scenes of the same world.
//
// Visited entirely, by -model.states 0: "prompt" has 39,890 states, at most 20 steps from the start; "persistent" has
// 47,581, 23; "deferred" has 37,853, 20; "set together" has 41,914, 22; "set and deferred" has 55,907, 19; "set at
// ClickHouse Keeper" has 39,238, 21. The others have more than 60,000.
var modelStates = flag.Int("model.states", 2500, "how many states of each scene of the model are visited; 0: all")

// A scene says what may happen in a world. Each step of three kinds costs one of what is left of its kind.
type scene struct {
	name    string
	wishes  []wish   // the subscriptions that may be made, ended and made again
	trees   []string // likewise, trees
	others  []string // paths of nodes that other clients change
	calls   int8     // the session's, to the table
	changes int8     // by other clients
	faults  int8
	old     bool   // a server before 3.9, which cannot tell the watch of a tree from others on its path
	keeper  bool   // the server sends the events of setWatches behind the answer, as ClickHouse Keeper does
	broken  string // what the server breaks: a rule of package queue
}

type wish struct {
	key      Key
	how      Manner
	knows    knowledge
	read     bool // the node is not known to be readable
	optional bool // it is not made if it would take a read
}

// A knowledge is what a subscriber knows before it subscribes.
type knowledge int

const (
	nothing  knowledge = iota
	theStart           // the data as of the first transaction
	allSeen            // the data as of the newest transaction that an answer has shown
)

var (
	modelPaths              = []string{"/a", "/a/b"}
	dataA, childrenA, dataB = Key{"/a", false}, Key{"/a", true}, Key{"/a/b", false}
	a, ab                   = []string{"/a"}, modelPaths
	scenes                  = []scene{
		{name: "prompt", wishes: []wish{{key: dataA, how: Promptly}}, others: a, calls: 2, changes: 2, faults: 2},
		{name: "persistent", wishes: []wish{{key: dataA, how: Persistent}}, others: a, calls: 2, changes: 2, faults: 2},
		{name: "both", wishes: []wish{{key: dataA, how: Promptly}, {key: dataA, how: Persistent}}, others: a, calls: 3, changes: 2, faults: 1},
		{name: "deferred", wishes: []wish{{key: dataA, how: Deferred}, {key: dataA, how: Promptly}}, others: a, calls: 3, changes: 1, faults: 1},
		{name: "children", wishes: []wish{{key: childrenA, how: Promptly}, {key: childrenA, how: Attentive}}, others: ab, calls: 3, changes: 2, faults: 1},
		{name: "data and children", wishes: []wish{{key: dataA, how: Deferred}, {key: childrenA, how: Attentive}}, others: a, calls: 3, changes: 2, faults: 1},
		{name: "two paths", wishes: []wish{{key: dataA, how: Persistent}, {key: dataB, how: Deferred}}, others: a, calls: 3, changes: 2, faults: 1},
		{name: "set", wishes: []wish{{key: dataA, knows: allSeen}}, others: a, calls: 2, changes: 2, faults: 2},
		{name: "set together", wishes: []wish{{key: dataA, knows: theStart}, {key: dataA, knows: allSeen}}, others: a, calls: 2, changes: 2, faults: 1},
		{name: "set and read", wishes: []wish{{key: dataA, knows: allSeen}, {key: dataA, how: Promptly}}, others: a, calls: 3, changes: 2, faults: 1},
		{name: "set and deferred", wishes: []wish{{key: dataA, knows: allSeen}, {key: dataA, how: Deferred}}, others: a, calls: 2, changes: 2, faults: 1},
		{name: "set at ClickHouse Keeper", wishes: []wish{{key: dataA, knows: theStart}, {key: dataA, knows: allSeen}}, others: a, calls: 2, changes: 2, faults: 1, keeper: true},
		{name: "set or not", wishes: []wish{{key: dataA, knows: allSeen, read: true}, {key: dataA, knows: allSeen, optional: true}}, others: a, calls: 3, changes: 2, faults: 1},
		{name: "set, in a tree", wishes: []wish{{key: dataA, knows: allSeen}}, trees: a, others: a, calls: 3, changes: 1, faults: 1, old: true},
		{name: "tree", wishes: []wish{{key: dataA, how: Promptly}}, trees: a, others: ab, calls: 2, changes: 2, faults: 1},
		{name: "tree at an old server", wishes: []wish{{key: dataA, how: Persistent}}, trees: a, others: a, calls: 3, changes: 1, faults: 1, old: true},
	}
)

func (s scene) explore(limit int) (explore.Result, error) {
	return explore.Model[*world]{
		Start: newWorld(s),
		Key:   func(key []byte, w *world) []byte { return w.appendKey(key) },
		Steps: func(w *world, step func(string, *world)) {
			w.choices(func(c choice) { step(c.name, w.after(c)) })
		},
		Check:   (*world).check,
		IsEnd:   (*world).isQuiet,
		IsFault: isFault,
		Limit:   limit,
	}.Explore()
}

// isFault reports whether a step need not happen, by the colon in its name.
func isFault(step string) bool { return strings.Contains(step, ": ") }

func TestTableKeepsItsInvariantsInEveryState(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			result, err := s.explore(*modelStates)
			if t.Log(result); err != nil {
				t.Error(err)
			}
		})
	}
}

// What the table relies on: see package queue.
func TestTableNeedsItsServersRules(t *testing.T) {
	const want = "the view of subscription 0 is current, the server has no watch, and no event is on its way"
	for _, rule := range []string{"S1", "S7"} {
		s := scene{wishes: []wish{{key: dataA, how: Promptly}}, others: a, calls: 1, changes: 1, faults: 1, broken: rule}
		if _, err := s.explore(0); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s broken: got %v, want an error with %q", rule, err, want)
		}
	}
}
