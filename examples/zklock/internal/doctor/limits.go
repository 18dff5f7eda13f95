package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// limitsOf are a server's settings, if it has told them.
type limitsOf struct {
	address string
	settings
	known bool
}

func (l limitsOf) String() string { return fmt.Sprintf("%s %v to %v", l.address, l.least, l.most) }

// limitFindings judges the limits of all servers together. A server that grants less than those before it shortens a
// session, and its client may not hear of it: see S8 of recipes/internal/queue.
func limitFindings(all []limitsOf, asked time.Duration) (found []Finding) {
	all = slices.DeleteFunc(slices.Clone(all), func(l limitsOf) bool { return !l.known })
	if len(all) == 0 {
		return nil
	}
	shortest := slices.MinFunc(all, func(a, b limitsOf) int { return int(a.most - b.most) })
	if slices.ContainsFunc(all, func(l limitsOf) bool { return l.least != shortest.least || l.most != shortest.most }) {
		texts := make([]string, len(all))
		for i, l := range all {
			texts[i] = l.String()
		}
		found = append(found, Finding{
			Look, "servers", "they grant sessions of different lengths: " + strings.Join(texts, ", ") + ". A holder that moves from one to another " +
				"may not hear that its session is shorter, and hold its lock beside the next one",
			"give all the same tickTime, minSessionTimeout and maxSessionTimeout",
		})
	}
	if asked >= shortest.most {
		found = append(found, Finding{
			Look, shortest.address, fmt.Sprintf("it grants sessions of %v at most, and clients that ask for %v have the longest that it grants: when that "+
				"is lowered, a holder may not hear that its session is shorter", shortest.most, asked),
			"have programs ask for less: framework.WithSessionTimeout, or -session; before the limit is lowered see the runbook",
		})
	}
	return found
}
