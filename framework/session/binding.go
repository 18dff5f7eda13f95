package session

import (
	"time"
)

// A Binding ties something, a lease for instance, to the time until which no server can have given the session's nodes
// to another. It is safe for concurrent use.
type Binding interface {
	// Err is nil while the binding is valid. It compares the time, and so is right also when timers are late, after a
	// suspension of the process or the machine. Afterwards it is the cause that Bind's onEnd gets.
	Err() error
	// ValidUntil is when the binding ends without a renewal, or ended, by the ordinary clock.
	ValidUntil() time.Time
	// Release ends the binding, and does not block. Bind's onEnd and cleanup are not called from then on, but may be
	// running, or about to.
	Release()
}
