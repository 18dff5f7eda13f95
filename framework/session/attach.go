package session

import (
	"github.com/gocurator/curator/framework/ranked"
)

// Attachments are values that recipes hang on a client or a session, one of each type. The zero value is ready for use,
// and safe for concurrent use.
type Attachments struct {
	mu     ranked.Mutex[ranked.Leaf, Attachments]
	values map[any]any // by typeKey
}

// A typeKey is the key of the value of type T. Keys of two types differ, also if one is an interface that the other
// has.
type typeKey[T any] struct{}

// Attach returns the value of type T. If there is none, create makes it; without create Attach returns the zero value.
// create should only make the value, because one of two concurrent results is dropped. A value is never removed, so T
// should be a type of the recipe's package, or a pointer to one.
func Attach[T any](a *Attachments, create func() T) T {
	if value, found := find[T](a); found || create == nil {
		return value
	}
	made := create()
	a.mu.Lock()
	defer a.mu.Unlock()
	if value, found := findLocked[T](a); found {
		return value
	}
	if a.values == nil {
		a.values = map[any]any{}
	}
	a.values[typeKey[T]{}] = made
	return made
}

func find[T any](a *Attachments) (value T, found bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return findLocked[T](a)
}

func findLocked[T any](a *Attachments) (value T, found bool) {
	attached, found := a.values[typeKey[T]{}]
	value, _ = attached.(T)
	return value, found
}
