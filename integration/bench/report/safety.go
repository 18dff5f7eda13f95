package report

import (
	"fmt"
	"strings"

	"github.com/gocurator/curator/integration/bench/plan"
)

// safety says what each client promises, and what its acquires leave whose contexts end.
func (t *tables) safety() {
	t.printf("\n### Safety: what each lock promises, and what it leaves when the context of an acquire ends\n\n")
	t.printf("| | holder learns of a loss before another has the lock | fence | a held lock survives the loss of a server | " +
		"waiters in order | locks left taken, if they were free | if they were held |\n|---|---|---|---|---|---|---|\n")
	var sources, left []string
	for _, i := range t.impls() {
		p, ok := plan.PromiseOf(i.ID)
		if !ok {
			continue
		}
		t.printf("| %s | %s | %s | %s | %s | %s | %s |\n", i.Label, p.Told, p.Fence, p.Failover, p.Fair, t.residue(i, false), t.residue(i, true))
		sources = append(sources, fmt.Sprintf("* %s: %s\n", i.Label, p.Source))
		if p.Left != "" {
			left = append(left, fmt.Sprintf("* %s: %s\n", i.Label, p.Left))
		}
	}
	t.prose("\nThe last two columns are measured: contexts end after 300 µs or less, the client stays connected, and another one " +
		"looks at the locks a second later at most. How often one is in time for the gap depends on the machine. Of what is left:\n")
	t.prose("\n%s", strings.Join(left, ""))
	t.prose("\nThe others are promises, which stand in:\n")
	t.prose("\n%s", strings.Join(sources, ""))
}

// residue is how many locks were left, of how many.
func (t *tables) residue(i plan.Impl, contended bool) string {
	if !i.Ends {
		return "takes no context"
	}
	for _, r := range t.Residue {
		switch {
		case r.Impl != i.ID || r.Contended != contended:
		case r.Failed != "":
			return "failed"
		case r.Found.Ended == 0:
			return "no context ended first"
		default:
			return fmt.Sprintf("%d of %d", r.Found.Left, r.Found.Ended)
		}
	}
	if _, missing := t.Conditions.Missing[i.ID]; missing {
		return "not installed"
	}
	return "not measured"
}
