//go:build linux

package interop_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"
)

// A numberStep is one call of a number, or a change of its node by hand.
type numberStep struct {
	op         string
	old, value int64
	node       []byte // by hand
}

// numberSteps are what both languages do with a number whose least value is min.
func numberSteps(least, most int64) []numberStep {
	return []numberStep{
		{op: "value"},
		{op: "compareandset", old: 0, value: 1}, // there is no node
		{op: "add", value: 5},
		{op: "add", value: -7},
		{op: "compareandset", old: -2, value: 9},
		{op: "compareandset", old: -2, value: 10},
		{op: "initialize", value: 3},
		{op: "setvalue", value: most},
		{op: "add", value: 1}, // the sum wraps
		{op: "setvalue", value: least},
		{op: "add", value: -1},
		{op: "setvalue", value: 258},
		{op: "empty", node: []byte{}},
		{op: "value"},
		{op: "add", value: 1},
		{op: "too short", node: []byte{1, 2, 3}},
		{op: "value"},
		{op: "add", value: 1},
		{op: "delete"},
		{op: "initialize", value: 4},
		{op: "value"},
	}
}

func TestNumbersOfJavaAndGo(t *testing.T) {
	playAll(t, []story{
		{"the same calls have the same outcomes and bytes", sameCalls},
		{"all under load come to the sum", underLoad},
		{"a lost answer is unknown in Go and counts twice in Java", lostAnswer},
		{"kazoo's counter is one of four bytes", kazooCounts},
		{"ours never counts twice under connection resets", underResets},
	})
}

func sameCalls(w *world) {
	t := w.t
	javaClient, goClient := w.client(java), w.ourClient(w.addr)
	for _, kind := range numberKinds {
		steps := numberSteps(kind.least, kind.most)
		var outcomes [2][]string
		for i, language := range []string{java, ours} {
			path := "/" + name(kind.recipe)
			users := map[string]numberUser{
				java: theirNumber(javaClient, kind.recipe, path, ""),
				ours: kind.ours(w, goClient, path),
			}
			for _, step := range steps {
				outcomes[i] = append(outcomes[i], w.numberStep(path, step, users[language]))
				theirs, ours := users[java].call(numberStep{op: "value"}), users[ours].call(numberStep{op: "value"})
				if theirs != ours {
					t.Errorf("%s, after %+v in %s: Java reads %s, and Go %s", kind.recipe, step, language, theirs, ours)
				}
			}
		}
		for i, step := range steps {
			if outcomes[0][i] != outcomes[1][i] {
				t.Errorf("%s, step %d, %+v:\nCurator: %s\nhere:    %s", kind.recipe, i, step, outcomes[0][i], outcomes[1][i])
			}
		}
	}
}

// numberStep does a step, and returns its outcome and the bytes of the node.
func (w *world) numberStep(path string, step numberStep, user numberUser) string {
	w.t.Helper()
	var err error
	outcome := ""
	switch {
	case step.node != nil:
		_, err = w.observer.Set(path, step.node, -1)
	case step.op == "delete":
		err = w.observer.Delete(path, -1)
	default:
		outcome = user.call(step)
	}
	if err != nil {
		w.t.Fatalf("%s %s: %v", step.op, path, err)
	}
	data, _, err := w.observer.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		return outcome + ", no node"
	}
	if err != nil {
		w.t.Fatalf("read %s: %v", path, err)
	}
	return fmt.Sprintf("%s, %v", outcome, data)
}
