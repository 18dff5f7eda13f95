package history

import "github.com/gocurator/curator/examples/zklock/internal/survey"

// A Family is the kinds of nodes that wait for each other in one directory, and can exclude each other.
type Family int

// The families.
const (
	Exclusion Family = iota // mutexes, readers and writers, also kazoo's
	Latches
	Leases
)

// FamilyOf returns the family of a kind of node.
func FamilyOf(kind survey.Kind) Family {
	switch kind {
	case survey.Lease:
		return Leases
	case survey.Latch:
		return Latches
	default:
		return Exclusion
	}
}
