package session

import (
	"time"
)

// A Binding ties something, a lease for instance, to the time until which no server can have given the session's nodes
// to another. It is safe for concurrent use.
type Binding interface {
	// Err is nil while the binding is valid, and afterwards the cause that Bind's onEnd gets. It compares the time, so
	// it is correct even when timers are late, after a suspension of the process or the machine.
	Err() error
	// ValidUntil is when the binding ends without a renewal, or ended, by the ordinary clock.
	ValidUntil() time.Time
	// Release ends the binding, and does not block. Bind's onEnd and cleanup may be running or about to, but are not
	// called later.
	Release()
}
