package session

import (
	"sync"
)

// Attachments are values that recipes hang on a client or on a session, by a key of their own, instead of keeping a
// registry for the whole process. They go with what they hang on. The zero value is ready for use, and safe for
// concurrent use.
type Attachments struct {
	mu     sync.Mutex
	values map[any]any
}

// Attach returns the value that hangs there by key. If there is none, it makes one first; with a nil function it
// returns nil then. create is called under no lock, so that of two that are called at one time one result is dropped:
// it should do nothing but make the value. A value is never removed, so a key should be a type of the package that uses
// it, and what comes and goes is for the value to keep.
func (a *Attachments) Attach(key any, create func() any) any {
	if value, found := a.find(key); found || create == nil {
		return value
	}
	made := create()
	a.mu.Lock()
	defer a.mu.Unlock()
	if value, found := a.values[key]; found {
		return value
	}
	if a.values == nil {
		a.values = map[any]any{}
	}
	a.values[key] = made
	return made
}

func (a *Attachments) find(key any) (value any, found bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	value, found = a.values[key]
	return value, found
}
