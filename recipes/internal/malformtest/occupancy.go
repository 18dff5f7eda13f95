package malformtest

import "sync"

// A Lease is what a lock or an election gives.
type Lease interface {
	Err() error
	NodeName() string
}

// An Occupancy is the leases of a lock, by who has them: those of one do not exclude each other. Its zero value is
// ready for use.
type Occupancy struct {
	mu     sync.Mutex
	leases map[string][]Lease
}

// Enter notes a harm if a lease is granted beside one of another that is still valid. It is safe for concurrent use.
func (o *Occupancy) Enter(r *Run, who string, lease Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for other, leases := range o.leases {
		for _, l := range leases {
			if other != who && l.Err() == nil && lease.Err() == nil {
				r.Bad(OutcomeGrant, "%s of %s beside %s of %s", lease.NodeName(), who, l.NodeName(), other)
			}
		}
	}
	if o.leases == nil {
		o.leases = map[string][]Lease{}
	}
	o.leases[who] = append(o.leases[who], lease)
}
