package leader

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// Start stands for election. It blocks until the latch has its node, so that all latches that start later lead later;
// ctx bounds that wait and nothing else. From then on the latch stands until Close or the end of the client, through
// losses of the connection, the session and the node. After a failed campaign, as while the servers lack the client's
// chroot, it pauses for up to a second, and stands again; the log says so once. It re-enters no term: a latch that is
// started with the context of a term of its election stands behind that.
//
// Errors: those of [locks.InterProcessMutex.Acquire], which leave the latch as it was; [ErrStarted]; [ErrNotStarted]
// if Close came meanwhile.
//
// Curator: LeaderLatch.start().
func (l *LeaderLatch) Start(ctx context.Context) error {
	if l.err != nil {
		return l.wrap("start", l.err)
	}
	l.mu.Lock()
	if err := l.start(); err != nil {
		l.mu.Unlock()
		return err
	}
	select {
	case <-l.stood.News(): // left over from a Start that has failed
	default:
	}
	// Within a term of this election Acquire would re-enter: two latches would lead, the second for that term alone.
	run, stop := context.WithCancel(locks.WithoutLease(context.WithoutCancel(ctx)))
	done, first := make(chan struct{}), make(chan error, 1)
	l.stop, l.done = stop, done
	l.mu.Unlock()
	go l.run(run, done, first)
	var err error
	select {
	case <-l.stood.News():
	case err = <-first:
	case <-ctx.Done():
		err = l.wrap("start", retry.ContextError(ctx))
	}
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.begun = true
		return nil
	}
	stop()
	<-done
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.startFailed(err)
}

// run campaigns and leads until it is stopped, or no campaign can succeed. It sends first how the first campaign has
// ended; if that failed, Start stops it.
func (l *LeaderLatch) run(ctx context.Context, done chan struct{}, first chan<- error) {
	defer close(done)
	defer l.log(nil)
	var pace retry.Pace
	for ctx.Err() == nil {
		began := time.Now()
		term, err := l.lock.Acquire(ctx)
		select {
		case first <- err:
		default:
		}
		if err == nil {
			l.lead(ctx, term)
		}
		if over := l.client.Err(); over != nil {
			l.set(nil, over)
			return
		}
		if session.ShouldStartOver(ctx, err) {
			err = nil // an outage, which the next campaign waits out
		}
		if ctx.Err() == nil {
			l.set(nil, err)
			if err != nil {
				l.log(err)
			}
			_ = pace.Wait(ctx, time.Since(began)) // its error is the end of ctx
		}
	}
}

// stands notes that the latch has a node, and waits for its turn.
func (l *LeaderLatch) stands() {
	l.log(nil)
	l.stood.Signal()
}

// log logs why the latch does not stand for election, unless Start returns that; or with nil that it stands.
func (l *LeaderLatch) log(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		return
	}
	l.trouble.Note(l.client.Logger(), "leader: the latch does not stand for election", l.path, err)
}

// lead waits for the end of the term or of ctx, releases the term, and returns after the removal of its node. The error
// of the removal is Close's.
func (l *LeaderLatch) lead(ctx context.Context, term *locks.Lease) {
	l.log(nil)
	l.set(term, nil)
	select {
	case <-term.Done(): // lost, or released by the program
	case <-ctx.Done():
	}
	err := term.Release()
	if errors.Is(err, locks.ErrReleased) || errors.Is(err, locks.ErrLeaseLost) {
		err = nil
	}
	l.mu.Lock()
	l.left = err
	l.mu.Unlock()
	l.ended() // its own call may have come before set, or be on its way
}

// ended notes that the present term has ended, if it has. A term calls it at its end, on whatever goroutine ends it and
// before its node is removed: once that request is sent, the next participant may lead, and an answer may never come.
// The call may come late, and find the next term.
func (l *LeaderLatch) ended() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leads() {
		return
	}
	select {
	case <-l.term.Done():
		l.noteLocked(nil, nil)
	default:
	}
}

func (l *LeaderLatch) set(term *locks.Lease, failed error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteLocked(term, failed)
}

// noteLocked notes the present term, or why there is none, and wakes those who wait for it.
func (l *LeaderLatch) noteLocked(term *locks.Lease, failed error) {
	turned := l.note(term, failed)
	close(l.changed)
	l.changed = make(chan struct{})
	if turned {
		l.listeners.Push(term)
	}
}
