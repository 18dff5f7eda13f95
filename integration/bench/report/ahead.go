package report

import (
	"fmt"
	"strings"

	"github.com/gocurator/curator/integration/bench/plan"
)

// ahead says which clients are faster than this library in a group of cases, and which of them pay less for it. A
// reader should not have to look for that.
func (t *tables) ahead(g group) {
	var faster, volatile []string
	measured := false
	for _, i := range t.impls() {
		if i.ID == plan.Ours || i.ID == plan.Retained || i.Floor {
			continue
		}
		columns := 0
		for _, c := range g.cases {
			ratio := t.Ratio(c, i.ID, plan.Ours, Rate).Median
			measured = measured || ratio > 0
			if ratio > 1 {
				columns++
			}
		}
		if columns == 0 {
			continue
		}
		faster = append(faster, fmt.Sprintf("%s in %d of %d columns", i.Label, columns, len(g.cases)))
		if i.Volatile {
			volatile = append(volatile, i.Label)
		}
	}
	switch {
	case !measured:
	case len(faster) == 0:
		t.prose("\nOn this machine, none of the others is faster than this library in these columns.\n")
	default:
		t.prose("\nFaster than this library, on this machine: %s.\n", strings.Join(faster, "; "))
		if len(volatile) > 0 {
			t.prose("These of them have locks in memory alone, without a disk and without consensus: %s.\n", strings.Join(volatile, "; "))
		}
	}
}
