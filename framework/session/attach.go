package session

import (
	"sync"
)

// Attachments are values that recipes hang on a client or a session by keys of their own. They go with it. The zero
// value is ready for use, and safe for concurrent use.
type Attachments struct {
	mu     sync.Mutex
	values map[any]any
}

// Attach returns the value for key. If there is none, create makes it; without create Attach returns nil. create runs
// under no lock, so that one of two concurrent results is dropped: it should only make the value. A value is never
// removed, so a key should be a type of its package, and the value should keep what comes and goes.
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
