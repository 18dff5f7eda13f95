package live

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/retry"
)

// A base is what the parts of a session share: its connection, its times, and the mutex.
type base struct {
	cfg       Config
	tell      Events
	support   *transport.Support
	clock     *clock.Clock
	transport *transport.Transport
	wake      chan struct{} // to the owner's clock
	done      chan struct{} // closed when session and bindings are over
	id        atomic.Int64  // zero before the first handshake
	usable    atomic.Bool   // online, and not over; set within a critical section, and read without the mutex

	// mu guards the one table to which answers and watch events are applied, in the order of arrival: what follows, and
	// the fields of the parts. Nothing blocks under it: no I/O, no callback, no lock of the client.
	mu       ranked.Mutex[ranked.Session, base]
	online   bool
	attached chan struct{} // closed while online
	server   string        // the server of the connection, or of the newest handshake
	over     error
	opened   time.Time // when the first connection opened the session
	leases   leaseClock
	ring     *cause.Ring // the client's: its sessions follow each other, and the one at work guards it
}

// err is nil while the session may live.
func (b *base) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

// sessionID is the session's number; 0 before the first handshake.
func (b *base) sessionID() int64 { return b.id.Load() }

// sendLocked queues calls and reports whether there is a connection. The mutex is held, so that requests leave in the
// order in which the table changed: a watch that is taken off and set again must not be taken off last.
func (b *base) sendLocked(calls ...*transport.Call) bool {
	return b.online && b.over == nil && b.transport.Send(calls...)
}

// queueLocked is sendLocked for a caller that lets go of the mutex, and writes then.
func (b *base) queueLocked(calls ...*transport.Call) (u transport.Unwritten, queued bool) {
	if !b.online || b.over != nil {
		return u, false
	}
	return b.transport.Queue(calls...)
}

// wakeClock makes the owner's clock recompute its next deadline.
func (b *base) wakeClock() { signal(b.wake) }

// signal never blocks: the channel has room for one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// noteUsableLocked follows each change of online and over.
func (b *base) noteUsableLocked() { b.usable.Store(b.online && b.over == nil) }

// isAttached reports whether there is a connection.
func (b *base) isAttached() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.online
}

// waitAttached blocks until there is a connection, the session is over, or ctx is done.
func (b *base) waitAttached(ctx context.Context) error {
	if b.usable.Load() { // as for most calls
		return retry.ContextError(ctx)
	}
	for {
		b.mu.Lock()
		attached, online, over := b.attached, b.online, b.over
		b.mu.Unlock()
		switch {
		case over != nil:
			return over
		case ctx.Err() != nil:
			return retry.ContextError(ctx)
		case online:
			return nil
		}
		select {
		case <-attached:
		case <-b.done:
		case <-ctx.Done():
		}
	}
}
