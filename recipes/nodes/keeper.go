package nodes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// A keeper keeps a node from Start to its end, through one session after the other. Its goroutine looks, decides and
// acts. An act that fails is tried again after a pause.
type keeper struct {
	node     *PersistentNode
	registry *registry
	absolute string // the path without GUID and number
	key      any    // in the registry: the path, or the PersistentNode if the node has a number
	waiter   session.Waiter
	stop     context.CancelFunc
	stopped  <-chan struct{} // closed by stop
	done     chan struct{}   // closed when the goroutine has ended

	// For the goroutine alone.
	path    string // absolute, with GUID and number; "" while they are not known
	missing bool   // the node is to be created
	czxid   int64  // that of the node that was seen last
	written int    // number of the data that this node has; 0 for none, and at first in each session if it is ephemeral
	late    int32  // version at which a server may still execute a write whose answer was lost; -1 for none
	claim   claim  // on a node that outlives sessions
	begun   bool   // a node was kept: Start does not fail any more
	want    content
	touched time.Time
	beat    *time.Timer // until the next touch; nil before the first

	// Written before done is closed.
	removal session.Removal // deletes an ephemeral node; nil if there is nothing to remove
	left    error           // why a node that outlives sessions is left, or that of an earlier session
}

func (k *keeper) run(ctx context.Context) {
	defer k.leave()
	blocked := func(err error) { k.refused(ctx, err, k.node.want()) } // there is no session
	for s, err := range k.node.client.SessionsWhileOpen(ctx, blocked) {
		if err != nil {
			if ctx.Err() == nil { // the client has ended: no data will ever be written
				k.node.change(func(is *state) {
					is.goes(err, err)
					is.tried = math.MaxInt
				})
			}
			break
		}
		k.keepIn(ctx, s)
	}
	o := &k.node.options
	mayHave := k.path != "" && (o.sequential() || !k.claim.none()) // a node that is this keeper's
	if mayHave && !o.ephemeral() {
		if k.left = k.node.client.Err(); k.left == nil {
			k.left = k.removeLasting(ctx)
		}
	}
}

// leave gives the path free.
func (k *keeper) leave() {
	if k.beat != nil {
		k.beat.Stop()
	}
	k.registry.kept.Delete(k.key)
	close(k.done)
}

// refused notes why the data were not written. If Start fails with that, it blocks until the end of ctx, which Start
// brings about: another try could write to the node of a predecessor, for nothing, and Start would have to remove it.
func (k *keeper) refused(ctx context.Context, err error, data content) {
	if k.note(err, data) && !k.begun {
		<-ctx.Done()
	}
}

// note notes why the data were not written, and reports whether Start fails with that. Data that no node can have are
// replaced by those that it had: a later node could not be made with them, also if no Set waits any more.
func (k *keeper) note(err error, data content) (fails bool) {
	k.node.change(func(is *state) {
		if !errors.Is(err, framework.ErrTooLarge) || bytes.Equal(data.data, is.had.data) {
			is.reason, is.tried = err, data.number
			fails = true
			return
		}
		is.tooLarge, is.excess = data.number, err
		if k.node.wanted.number == data.number {
			k.node.wanted = content{is.had.data, data.number + 1}
		}
	})
	return fails
}

// keepIn keeps the node until the session is over, or ctx.
func (k *keeper) keepIn(ctx context.Context, s session.Session) {
	ephemeral := k.node.options.ephemeral()
	if ephemeral {
		k.missing, k.written, k.late = true, 0, -1
	}
	k.registry.add(s.ID())
	var pace retry.Pace
	for ctx.Err() == nil && s.Err() == nil {
		began := time.Now()
		var err error
		if k.missing {
			err = k.create(ctx, s)
		}
		if err == nil {
			err = k.follow(ctx, s)
		}
		if refuses(ctx, err) {
			k.refused(ctx, err, k.want)
		}
		_ = pace.WaitOrDone(ctx, time.Since(began), s.Done())
	}
	if !ephemeral {
		return
	}
	if ctx.Err() != nil && k.path != "" {
		k.left = k.takeFormer(ctx, s)
		k.removal = s.RemoveAt(k.path)
	}
	k.node.change(func(is *state) { is.goes(s.Err(), is.reason) })
}

// refuses reports whether err says that something is wrong with the node. After a lost connection the next try is due.
func refuses(ctx context.Context, err error) bool {
	return err != nil && !session.ShouldStartOver(ctx, err) && !errors.Is(err, framework.ErrConnectionLost) && ctx.Err() == nil
}

// mayBeExecuted reports whether err leaves open if the request was executed, or will be.
func mayBeExecuted(ctx context.Context, err error) bool {
	var hungUp *framework.DisconnectError
	return err != nil && (!refuses(ctx, err) || errors.As(err, &hungUp))
}

// follow watches the node and acts, until it is missing, or another one. An error is that of an act.
func (k *keeper) follow(ctx context.Context, s session.Session) error {
	watch := s.WatchData(k.path, k.waiter.Signal)
	defer watch.Stop()
	for {
		view := watch.View()
		err := view.Err // only another watch asks again
		k.want = k.node.want()
		switch decide(k.see(view), k.want.data, &k.node.options) {
		case wait:
			if view.Current {
				foreign := fmt.Errorf("%w: its ephemeralOwner is %#x", ErrForeign, view.Stat.EphemeralOwner)
				k.node.change(func(is *state) { is.goes(session.ErrNodeDeleted, foreign) })
			}
		case create:
			k.missing = true
			gone := session.ErrNodeDeleted
			if k.node.options.ephemeral() { // it may have gone with its session
				gone = s.NodeLost()
			}
			k.node.change(func(is *state) { is.goes(gone, nil) })
			return nil
		case replace:
			k.node.change(func(is *state) { is.goes(session.ErrNodeDeleted, is.reason) })
			return k.replace(ctx, s, k.node.options.overwriting)
		case write:
			if err = k.write(ctx, s, view.Stat.Version); err == nil {
				k.kept()
			}
		case keep:
			k.kept()
		}
		if view.Status != framework.StatusUnknown { // a touch that is refused must not end the watch before its answer
			err = cmp.Or(err, k.keepTTL(ctx))
		}
		if err != nil {
			return unlessChanged(err)
		}
		k.node.settled()
		if err := k.waiter.Wait(ctx, s, nil); err != nil {
			return err
		}
	}
}

func (k *keeper) see(view framework.View) sight {
	sees := sight{view: view}
	if view.Status == framework.StatusPresent {
		if view.Stat.Czxid != k.czxid {
			k.czxid, k.written = view.Stat.Czxid, 0
		}
		sees.former = k.registry.had(view.Stat.EphemeralOwner)
	}
	sees.pending = k.written < k.want.number
	sees.late = sees.pending && view.Stat != nil && view.Stat.Version == k.late
	return sees
}

// kept notes that the node is there, and has its data. So Start returns, if it has not failed yet.
func (k *keeper) kept() {
	k.written = k.want.number
	k.node.change(func(is *state) {
		if is.failed {
			return
		}
		is.comes(k.want)
		k.begun = true
		k.claim.take(k.czxid)
	})
}

// end ends the keeping, and returns why the node is left.
func (k *keeper) end() error {
	k.stop()
	timeout := time.NewTimer(k.node.client.ConnectionTimeout())
	defer timeout.Stop()
	<-k.done
	if k.removal == nil {
		return k.left
	}
	select {
	case <-k.removal.Done():
	case <-timeout.C:
		return context.DeadlineExceeded
	}
	err := session.JoinErrors(k.left, k.removal.Err())
	if errors.Is(err, framework.ErrSessionLost) || errors.Is(err, framework.ErrClosed) {
		return nil // the node goes with its session
	}
	return err
}
