package simtest

import (
	"slices"

	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/journaltest"
)

// Seen counts what has occurred in simulations: the engine's steps and the faults, by their kinds, and the checks of
// caches.
type Seen map[string]int

const checksOfCaches = "check of a cache after Sync"

// Add counts what has occurred in one.
func (s Seen) Add(e *Env) {
	for kind, n := range journaltest.Kinds(e.Journal.Events()) {
		s["step "+string(kind)] += n
	}
	s[checksOfCaches] += e.checks
	for _, happened := range e.events {
		if happened.Fault != nil {
			s["fault "+happened.Fault.Kind]++
		}
	}
}

// Missing returns what could have occurred and has not.
func (s Seen) Missing() []string {
	all := []string{checksOfCaches}
	for _, kind := range steps.Kinds() {
		all = append(all, "step "+string(kind))
	}
	for _, kind := range slices.Concat(ofPeers, ofServers) {
		all = append(all, "fault "+kind)
	}
	return slices.DeleteFunc(all, func(what string) bool { return s[what] > 0 })
}
