package plan_test

import (
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

func TestPromisesAnswerYesOrNoAndNameTheirSource(t *testing.T) {
	for _, p := range plan.Promises {
		for name, answer := range map[string]string{"told": p.Told, "fence": p.Fence, "failover": p.Failover, "fair": p.Fair} {
			if word, _, _ := strings.Cut(answer, ","); word != "yes" && word != "no" {
				t.Errorf("%v, %s: got %q, want it to begin with yes or no", p.Impls, name, answer)
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
