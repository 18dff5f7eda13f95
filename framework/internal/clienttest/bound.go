package clienttest

import (
	"sync"
	"time"

	"github.com/gocurator/curator/framework/session"
)

// A Bound is a binding that remembers how it ended.
type Bound struct {
	session.Binding
	mu    sync.Mutex
	Cause error
	At    time.Time
	Calls int
}

// Bind begins a binding in the client's session.
func (e *Env) Bind() *Bound {
	e.Helper()
	b := &Bound{}
	var err error
	if b.Binding, err = e.Session().Bind(b.end, nil); err != nil {
		e.Fatal(err)
	}
	return b
}

func (b *Bound) end(cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Cause, b.At = cause, time.Now()
	b.Calls++
}

// Ended reports whether it was ended.
func (b *Bound) Ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Calls > 0
}
