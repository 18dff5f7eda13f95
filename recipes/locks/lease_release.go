package locks

import (
	"runtime"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/session"
)

// Release ends the lease. The last lease of a hold removes the node, and waits for the answer for at most the client's
// connection timeout. A retained lock may keep the node or hand it over instead.
//
// Errors: [ErrReleased] if it was released before; a [*LostError] if it was lost; a [*ReleaseError] if the removal is
// refused or not confirmed. The lease has ended in every case. A multi-lock's lease releases its parts, the last one
// first, waits for all answers together, and returns every failure.
//
// Curator: InterProcessLock.release(), Lease.close().
func (l *Lease) Release() error { return releaseAll(nil, l) }

// quit is Release without waiting, for a lease that only this package has.
func (l *Lease) quit() {
	enough := make(chan struct{})
	close(enough)
	_ = releaseAll(enough, l) // ignored: other leases remain, or the caller already returns an error
}

// releaseAll releases all leases, the last one first. It asks for all removals before it waits for the answers, for at
// most the longest connection timeout, or until enough is closed, which is no error.
func releaseAll(enough <-chan struct{}, leases ...*Lease) error {
	var room [2]departure
	var errs []error
	for _, d := range leaveAll(room[:0], leases) {
		if err := d.await(enough); err != nil {
			errs = append(errs, err)
		}
	}
	return session.JoinErrors(errs...)
}

// A departure is a lease that has ended and the answer that its release waits for.
type departure struct {
	*Lease                  // nil if there is nothing to report but err
	asked   time.Time       // when the lease ended
	removal session.Removal // nil if the node stays
	err     error
}

// leaveAll ends the leases, the last one first, and appends their departures, those of parts in place of the whole.
func leaveAll(all []departure, leases []*Lease) []departure {
	for _, l := range slices.Backward(leases) {
		err := l.markReleased()
		switch {
		case err != nil:
			all = append(all, departure{err: err})
		case l.grant != nil:
			all = append(all, l.leave())
		default:
			l.end(l.errReleased())
			all = leaveAll(all, l.parts)
		}
	}
	return all
}

// markReleased returns an error if there is nothing to release.
func (l *Lease) markReleased() error {
	if err := l.missing(); err != nil {
		return err
	}
	l.mu.Lock()
	again := l.released
	l.released = true
	l.mu.Unlock()
	l.drop.Stop()
	runtime.KeepAlive(l) // until here a Lease without other references would count as lost
	if again {
		return l.errReleased()
	}
	return nil
}

func (l *Lease) leave() departure {
	last, err := l.grant.Leave(member{l.leaseState})
	if err != nil {
		return departure{err: err}
	}
	l.end(l.errReleased())
	if !last {
		return departure{}
	}
	d := departure{Lease: l, asked: time.Now()}
	if l.grant.Keeper != nil {
		d.removal = l.grant.Keeper.Free()
	} else {
		d.removal = l.grant.RemoveNode()
	}
	return d
}

func (d *departure) await(enough <-chan struct{}) (err error) {
	if d.Lease == nil {
		return d.err
	}
	g := d.grant
	if d.removal != nil {
		err = g.AwaitRemoval(d.removal, d.asked, enough)
	}
	if g.Keeper != nil {
		return g.Keeper.Freed(err)
	}
	return d.recipe.released(Released{
		Path: d.recipe.path, Node: g.Name, Held: d.asked.Sub(g.Since), FencingCount: g.Count, Zxid: g.SeenAtRelease(),
	}, err)
}
