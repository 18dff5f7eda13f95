package live

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/session"
)

// A binding is a [session.Binding].
type binding struct {
	term    *term
	onEnd   func(cause error)
	cleanup func()
	index   int // in term.bindings; guarded by the mutex
}

func (b *binding) Err() error {
	v := b.term.validity
	now := v.clock.Now()
	v.mu.Lock()
	lapsed := v.lapseLocked(now)
	err := b.term.err
	v.mu.Unlock()
	lapsed.end()
	return err
}

func (b *binding) ValidUntil() time.Time {
	v := b.term.validity
	v.mu.Lock()
	defer v.mu.Unlock()
	if b.term.err != nil {
		return v.clock.Wall(b.term.until)
	}
	return v.clock.Wall(v.leases.validUntil())
}

func (b *binding) Release() {
	v := b.term.validity
	v.mu.Lock()
	defer v.mu.Unlock()
	b.term.removeLocked(b)
}

// String names the session alone: the rest changes while it is printed.
func (b *binding) String() string {
	if b.term == nil {
		return "binding that Bind did not make"
	}
	return fmt.Sprintf("binding in session %#x", b.term.validity.sessionID())
}

// Format is String by every verb.
func (b *binding) Format(f fmt.State, verb rune) { session.Format(f, verb, b) }
