package plan_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/integration/bench/plan"
)

func TestEveryLockHasOnePromise(t *testing.T) {
	for _, i := range plan.Impls {
		found := 0
		for _, p := range plan.Promises {
			for _, impl := range p.Impls {
				if impl == i.ID {
					found++
				}
			}
		}
		want := 1
		if i.Floor {
			want = 0
		}
		if found != want {
			t.Errorf("%s: got %d promises, want %d", i.ID, found, want)
		}
	}
}

func TestPromisesAnswerYesNoOrPartlyAndNameTheirSource(t *testing.T) {
	for _, p := range plan.Promises {
		for name, answer := range map[string]string{"told": p.Told, "fence": p.Fence, "failover": p.Failover, "fair": p.Fair} {
			if word, _, _ := strings.Cut(answer, ","); !slices.Contains([]string{"yes", "no", "partly"}, word) {
				t.Errorf("%v, %s: got %q, want it to begin with yes, no or partly", p.Impls, name, answer)
			}
		}
		if p.Source == "" {
			t.Errorf("%v: got no source", p.Impls)
		}
		for _, impl := range p.Impls {
			if _, ok := plan.Client(impl); !ok {
				t.Errorf("got a promise of %q, want only of clients", impl)
			}
		}
	}
}

// The page for readers of the library has the same answers as the benchmark's. It lies outside of this module, so that
// go test may show a cached result after a change of the page alone: -count=1 looks again.
func TestComparisonHasTheSameAnswers(t *testing.T) {
	text, err := os.ReadFile("../../../examples/comparison/README.md")
	if err != nil {
		t.Fatal(err)
	}
	columns := []string{plan.Ours, plan.Reference, "zk.Lock", "kazoo", "etcd", "redsync"} // Consul is not measured
	for row, answer := range map[string]func(plan.Promise) string{
		"contenders queue in order":                         func(p plan.Promise) string { return p.Fair },
		"the holder learns of a loss before the next is in": func(p plan.Promise) string { return p.Told },
		"fencing": func(p plan.Promise) string { return p.Fence },
	} {
		_, line, _ := strings.Cut(string(text), "\n| "+row+" | ")
		line, _, _ = strings.Cut(line, "\n")
		cells := strings.Split(line, " | ")
		for i, impl := range columns {
			p, _ := plan.PromiseOf(impl)
			if want := answer(p); i >= len(cells) || cells[i] != want {
				t.Errorf("%s, %s: got the cells %q, want %q", row, impl, cells, want)
			}
		}
	}
}
