package locks

import (
	"runtime"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/session"
)

// Release ends the lease. The last lease of a hold removes the node, and waits for the server's answer for at most the
// client's connection timeout. A retained lock may keep the node or hand it over instead.
//
// Errors: [ErrReleased] if it was released before; a [*LostError] if it was lost; a [*ReleaseError] if the removal is
// refused or not confirmed. In every case the lease has ended. A multi-lock's lease releases its parts, the last one
// first, and returns every failure.
//
// Curator: InterProcessLock.release(), Lease.close().
func (l *Lease) Release() error { return l.release(nil) }

// release is Release that waits for the server until enough is closed, which is no error.
func (l *Lease) release(enough <-chan struct{}) error {
	if err := l.missing(); err != nil {
		return err
	}
	l.mu.Lock()
	again := l.released
	l.released = true
	l.mu.Unlock()
	l.drop.Stop()
	runtime.KeepAlive(l) // until here a Lease without other references would count as lost
	switch {
	case again:
		return l.errReleased()
	case l.grant != nil:
		return l.releaseLease(enough)
	}
	l.end(l.errReleased())
	var errs []error
	for _, part := range slices.Backward(l.parts) {
		errs = append(errs, part.release(enough))
	}
	return session.JoinErrors(errs...)
}

func (l *Lease) releaseLease(enough <-chan struct{}) error {
	g, r := l.grant, l.recipe
	last, err := g.Leave(member{l.leaseState})
	if err != nil {
		return err
	}
	l.end(l.errReleased())
	switch {
	case !last:
		return nil
	case g.Keeper != nil:
		return g.Keeper.Free(enough)
	}
	released := Released{
		Path: r.path, Node: g.Name, Held: time.Since(g.Since), FencingCount: g.Count, Zxid: g.SeenAtRelease(),
	}
	if err := g.AwaitRemoval(g.RemoveNode(), enough); err != nil {
		released.Err = &ReleaseError{Path: r.path, Node: g.Name, Err: err}
	}
	r.released(released)
	return released.Err
}

// quit is Release without waiting, for a lease that only this package has.
func (l *Lease) quit() {
	enough := make(chan struct{})
	close(enough)
	_ = l.release(enough) // not the last lease, or its owner has an answer
}
