package live

import (
	"fmt"
	"time"
)

// A Binding ties something, a lease for instance, to the time until which no server can have given the session's nodes
// to another.
type Binding struct {
	term  *term
	end   func(cause error)
	tidy  func()
	index int // in term.bindings; guarded by the mutex
}

// Err is nil while the binding is valid. It compares the time, and so is right also when timers are late, after a
// suspension of the process or the machine.
func (b *Binding) Err() error {
	v := b.term.validity
	now := v.clock.Now()
	v.mu.Lock()
	lapsed := v.lapseLocked(now)
	err := b.term.err
	v.mu.Unlock()
	lapsed.end()
	return err
}

// ValidUntil is when the binding ends without a renewal, or ended, by the ordinary clock.
func (b *Binding) ValidUntil() time.Time {
	v := b.term.validity
	v.mu.Lock()
	defer v.mu.Unlock()
	if b.term.err != nil {
		return v.clock.Wall(b.term.until)
	}
	return v.clock.Wall(v.leases.validUntil())
}

// Release ends the binding. No call of end and tidy begins after it but one that was about to.
func (b *Binding) Release() {
	v := b.term.validity
	v.mu.Lock()
	defer v.mu.Unlock()
	b.term.removeLocked(b)
}

// String names the session alone: the rest changes while it is printed.
func (b *Binding) String() string {
	if b.term == nil {
		return "binding that Bind did not make"
	}
	return fmt.Sprintf("binding in session %#x", b.term.validity.sessionID())
}

// Format is String by every verb.
func (b *Binding) Format(f fmt.State, verb rune) { FormatText(f, verb, b.String()) }
