package report

import "github.com/gocurator/curator/integration/bench/plan"

// retained compares locks that this library retains with those that it does not: what retention gives to its client,
// and for how long it keeps others waiting.
func (t *tables) retained() {
	title := "\n### Retained locks, beside plain ones of this library\n\n" +
		"| | acquisitions/s, plain | retained | × plain | retained × Java Curator | longest wait, ms, plain | retained | requests, plain | retained |\n" +
		"|---|---|---|---|---|---|---|---|---|\n"
	for _, c := range t.Cases() {
		if number(t.Spread(c, plan.Retained, Rate)) == "" {
			continue
		}
		t.printf("%s| %s, %s |", title, c.label(), c.where())
		title = ""
		for _, text := range []string{
			number(t.Spread(c, plan.Ours, Rate)), ranged(t.Spread(c, plan.Retained, Rate)), number(t.Ratio(c, plan.Retained, plan.Ours, Rate)),
			number(t.Ratio(c, plan.Retained, plan.Reference, Rate)),
			ranged(millis(t.Spread(c, plan.Ours, WaitMax))), ranged(millis(t.Spread(c, plan.Retained, WaitMax))),
			number(t.Spread(c, plan.Ours, Requests)), number(t.Spread(c, plan.Retained, Requests)),
		} {
			t.printf(" %s |", text)
		}
		t.printf("\n")
	}
}
