package nodes

import (
	"slices"
	"sync"
	"sync/atomic"
)

// mostSessions is how many sessions a registry remembers. If the servers have not ended an older one yet, its node
// counts as that of another client.
const mostSessions = 64

// A registry is what the persistent nodes of one client share.
type registry struct {
	// The IDs of the newest sessions, which nodes of this client may belong to.
	sessions atomic.Pointer[[]int64]
	kept     sync.Map // keepers by their keys: two of one path would take each other's node for their own
}

// add remembers a session. Its keepers add it at the same time.
func (r *registry) add(session int64) {
	for !r.had(session) {
		before := r.sessions.Load()
		var newest []int64
		if before != nil {
			newest = (*before)[max(0, len(*before)-mostSessions+1):]
		}
		after := append(slices.Clone(newest), session)
		r.sessions.CompareAndSwap(before, &after)
	}
}

// had reports whether a node of a session may be this client's.
func (r *registry) had(session int64) bool {
	sessions := r.sessions.Load()
	return sessions != nil && slices.Contains(*sessions, session)
}
