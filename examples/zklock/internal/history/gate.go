package history

import (
	"path"
)

// takeFromGate finds the place at a semaphore's gate of the client that creates a lease: the first, or it would not be
// its turn.
func (b *builder) takeFromGate(lease *contender) {
	if lease.isUnknown() { // nor is it known whose place was its own
		return
	}
	if first := b.firstAtGate(lease); first != nil && first.Session == lease.Session {
		lease.take(first)
	} else if b.begun {
		b.takeUnknownGate(lease)
	}
}

// takeUnknownGate is for a lease whose client may stand first at the gate: a snapshot has missed whose place that is.
func (b *builder) takeUnknownGate(lease *contender) {
	if first := b.firstAtGate(lease); first != nil && first.isUnknown() && !lease.isUnknown() {
		lease.take(first)
	}
}

func (b *builder) firstAtGate(lease *contender) *contender {
	parent, name := path.Split(lease.line.dir)
	gate := b.lines[lineKey{parent + gateDirectory, Exclusion}]
	if name != leaseDirectory || gate == nil || len(gate.queue) == 0 {
		return nil
	}
	return gate.queue[0]
}

// The directories of a semaphore.
const (
	gateDirectory  = "locks"
	leaseDirectory = "leases"
)

// isUnknown reports whether neither its creation nor its owner is known.
func (one *contender) isUnknown() bool { return one.Czxid == 0 && one.Session == 0 }

// passGate notes that a client leaves the gate of a semaphore: what it has there counts, since it takes back what does
// not count before it leaves.
func (b *builder) passGate(gate *contender) {
	dir, name := path.Split(gate.line.dir)
	if name != gateDirectory || gate.batch == nil {
		return
	}
	if l := b.lines[lineKey{dir + leaseDirectory, Leases}]; l != nil {
		l.pass(gate)
	}
}
