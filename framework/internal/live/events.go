package live

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/framework/session"
)

// events are the transport's callbacks: they alone change the table, but for callers and the clock.
func (o *Runner) events() transport.Events {
	return transport.Events{
		Granted: o.onGranted, Attached: o.onAttached, Detached: o.onDetached, Answered: o.onAnswered, Watch: o.watching.event,
		Expired: func() {
			o.end(fmt.Errorf("%w: the servers say that it has expired", session.ErrSessionLost), cause.Expired)
		},
		Trying: o.onTrying, Failed: o.onFailed, Restarted: o.onRestarted, GaveUp: o.session.observers.behind,
	}
}

// onGranted goes by a shorter timeout although the connection may end before it is attached.
func (o *Runner) onGranted(timeout time.Duration, sent time.Time) {
	now := o.clock.Now()
	o.mu.Lock()
	lapsed := o.validity.lapseLocked(now)
	shortened := o.leases.shortened(timeout, sent)
	o.mu.Unlock()
	lapsed.end()
	if shortened {
		o.wakeClock()
	}
}

func (o *Runner) onAttached(a transport.Attachment) {
	now := o.clock.Now()
	o.mu.Lock()
	o.id.Store(a.SessionID)
	o.server = a.Server
	if o.opened.IsZero() {
		o.opened = now
	}
	lapsed := o.validity.lapseLocked(now)
	o.ring.Attach(a.Sent, a.Received, a.Server)
	o.leases.attached(a.Timeout, a.Sent, a.Received)
	lived := o.validity.settleLocked(nil)
	proven := o.proven || o.cfg.Chroot == "" && len(o.cfg.Transport.Authorizations()) == 0
	o.mu.Unlock()
	lapsed.end()
	o.validity.settled(lived)
	o.wakeClock()
	if proven {
		o.connect()
		return
	}
	o.prove(a.Server)
}

// prove makes the session's first request before users get it: they hear of no connection to a missing chroot, nor of
// one that ends with the refusal of an authentication, which is on its way ahead of this request.
func (o *Runner) prove(server string) {
	root := join(o.cfg.Chroot, "")
	o.transport.Send(transport.Exists(root, false, func(_ *zk.Stat, err error) {
		switch {
		case err == nil, errors.Is(err, zk.ErrNoAuth): // it exists, unreadable
			o.connect()
		case o.err() != nil: // its end may be on its way, and waits for its answer
		case !errors.Is(err, transport.ErrBroken):
			if errors.Is(err, zk.ErrNoNode) {
				err = fmt.Errorf("%w: %s", session.ErrNoChroot, root)
			}
			o.onFailed(server, err)
			o.transport.Break(err)
		}
	}))
}

// onRestarted counts before the owner hears of the connection: all users find the new number.
func (o *Runner) onRestarted(server string, seen, found int64) {
	o.session.generation.Add(1)
	o.tell.Restarted(server, seen, found)
}

// onTrying notes an attempt to connect, for the explanation of a loss.
func (o *Runner) onTrying(server string, stage cause.Stage) {
	now := o.clock.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ring.Try(now, server, stage)
}

// onFailed passes on why a server could not be used. A refusal is final: there will be no other session.
func (o *Runner) onFailed(server string, err error) {
	now, code := o.clock.Now(), transport.FailureCode(err) // outside of the mutex: a dialer's error has methods
	o.mu.Lock()
	o.ring.Fail(now, server, code)
	o.mu.Unlock()
	o.tell.Failed(server, err)
	if errors.Is(err, session.ErrAuthRefused) {
		o.end(fmt.Errorf("%w: %w", session.ErrSessionLost, err), cause.AuthRefused)
	}
}

// connect opens the session to its users, and sends what the last connection left undone.
func (o *Runner) connect() {
	o.mu.Lock()
	if o.over != nil {
		o.mu.Unlock()
		return
	}
	o.proven, o.online = true, true
	o.noteUsableLocked()
	close(o.attached)
	o.validity.renewTermLocked(o.clock.Now())
	o.watching.giveUpTreesLocked()
	o.sendLocked(append(o.removals.requestsLocked(), o.orphans.dueLocked(o.clock.Now())...)...)
	o.watching.setLocked()
	o.watching.askForTreesLocked()
	refused, server := o.watching.table.Wakes(), o.server
	o.mu.Unlock()
	call(refused)
	o.wakeClock()
	o.tell.Attached(server)
}

func (o *Runner) onDetached(reason error) {
	now, code := o.clock.Now(), endCode(reason) // outside of the mutex: a dialer's error has methods
	o.mu.Lock()
	lapsed := o.validity.lapseLocked(now) // a process that stood still may hear of this before its clock runs
	o.ring.Detach(now, o.validity.renewal.heard(&o.leases), o.server, code)
	was := o.online
	var ended *term
	var wakes []func()
	if was {
		o.online = false
		o.noteUsableLocked()
		o.validity.renewal.sent = time.Time{} // no charge against the next connection
		o.attached = make(chan struct{})
		o.watching.breakOffQuestionLocked()
		o.watching.table.Detached()
		wakes = o.watching.table.Wakes()
		o.orphans.forgetLooksLocked()
		if o.cfg.Policy == session.StandardErrorPolicy {
			o.validity.ranLocked(now)
			loss := o.validity.lossLocked(now, cause.Disconnected)
			loss.is.Code, loss.survival = code, o.validity.survivalLocked()
			ended = o.validity.endTermLocked(session.ErrSuspended, loss)
		}
	}
	o.mu.Unlock()
	lapsed.end()
	ended.end()
	call(wakes)
	if was {
		o.cfg.Transport.Logger.Debug("framework: connection lost", "session", fmt.Sprintf("%#x", o.sessionID()), "error", reason)
		o.tell.Detached(reason)
	}
}

func (o *Runner) onAnswered(sent, received time.Time, reach transport.Reach) {
	o.mu.Lock()
	// First the lapse, then the renewal: a late answer must not revive a lease that another client may already have
	// seen expired.
	lapsed := o.validity.lapseLocked(received)
	o.leases.answered(sent, received, reach)
	wake := false
	if o.validity.renewal.answered(sent, received, reach, o.leases.timeout) {
		o.ring.Answer(sent, received, o.server)
		wake = o.validity.needsWakeLocked(received)
	}
	o.validity.renewTermLocked(received)
	lived := o.validity.settleLocked(nil)
	o.mu.Unlock()
	lapsed.end()
	o.validity.settled(lived)
	if wake {
		o.wakeClock()
	}
}

// end ends the session: first its leases, then itself; then listeners hear of it; then the rest is tidied up. What it
// owns at the servers goes with it.
func (o *Runner) end(reason error, how cause.How) {
	o.mu.Lock()
	if o.over != nil {
		o.mu.Unlock()
		return
	}
	conclude := o.concludeLocked(reason, how)
	o.mu.Unlock()
	conclude()
}

// concludeLocked marks the session as over and returns the work to do after unlocking.
func (o *Runner) concludeLocked(reason error, how cause.How) (rest func()) {
	now := o.clock.Now()
	lapsed := o.validity.lapseLocked(now)
	o.validity.ranLocked(now)
	loss := o.validity.lossLocked(now, how)
	o.over, o.validity.end = &lostError{reason, loss}, loss
	o.noteUsableLocked()
	settled := o.validity.settleLocked(loss)
	ended := o.validity.endTermLocked(reason, loss)
	left, removals := o.orphans.abandonLocked()
	o.watching.breakOffQuestionLocked()
	o.watching.table = watches.New()
	return func() {
		bindings := append(lapsed.endBindings(), ended.endBindings()...) // only one has any
		// The bindings may have lapsed just before, and a caller of Err, for instance, ends them.
		o.validity.ending.Wait()
		loss.keep()
		close(o.done)
		o.tell.Over()
		o.tell.Backlog(left)
		for _, r := range removals {
			r.finish(fmt.Errorf("not done before: %w", reason))
		}
		o.validity.endSample()
		o.validity.settled(settled)
		o.validity.tidy(bindings)
	}
}

// leastLife stands for shorter session timeouts in EndedYoung: servers may grant one that is over before any answer.
const leastLife = time.Second

// EndedYoung reports whether the session, which is over, lived shorter than the timeout that was granted, and that; one
// second stands for a shorter one.
func (o *Runner) EndedYoung() (young bool, timeout time.Duration) {
	now := o.clock.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if timeout = o.leases.timeout; timeout > 0 {
		timeout = max(timeout, leastLife)
	}
	return now.Sub(o.opened) < timeout, timeout
}
