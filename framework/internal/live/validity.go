package live

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/session"
)

// A validity knows whether the session is valid, that is whether no server can have given its nodes to another, and
// what depends on that.
type validity struct {
	*sender
	watchesLocked func() bool // reports whether the session watches anything

	// Guarded by the mutex.
	term *term // nil while leases cannot be valid
	// ended terms whose bindings have not all ended; grows under the mutex, until over is set
	ending  sync.WaitGroup
	valid   chan struct{} // closed while there is a term
	kept    int           // calls of startRenewal less those of stop
	renewal renewal
	planned time.Time // when the clock looks again, unless woken

	survival *survival // the one that is not settled, or nil
	end      *loss     // the session's; set with over

	sample func() // takeSample; made once
}

// A term is a stretch of time during which a session was valid without a gap. A binding ends with its term, also if the
// session is renewed later.
type term struct {
	validity *validity

	// Guarded by the mutex.
	bindings []*binding // in no order
	err      error
	loss     *loss
	until    time.Time // when it ended
}

// bind is [Session.Bind].
func (v *validity) bind(onEnd func(cause error), cleanup func()) (*binding, error) {
	if onEnd == nil {
		return nil, errors.New("session: Bind: the function is nil")
	}
	now := v.clock.Now()
	v.mu.Lock()
	lapsed := v.lapseLocked(now)
	t, over := v.term, v.over
	var b *binding
	if t != nil && over == nil {
		b = &binding{term: t, onEnd: onEnd, cleanup: cleanup, index: len(t.bindings)}
		t.bindings = append(t.bindings, b)
	}
	overtaken := b != nil && v.needsWakeLocked(now)
	v.mu.Unlock()
	lapsed.end()
	switch {
	case over != nil:
		return nil, over
	case b == nil:
		return nil, session.ErrNotRenewed
	case overtaken:
		v.wakeClock()
	}
	return b, nil
}

func (t *term) removeLocked(b *binding) {
	if b.index >= len(t.bindings) || t.bindings[b.index] != b {
		return
	}
	last := len(t.bindings) - 1
	t.bindings[b.index] = t.bindings[last]
	t.bindings[b.index].index = b.index
	t.bindings[last] = nil
	t.bindings = t.bindings[:last]
}

// lapseLocked ends the term if its time is up. Like every function that returns a term, it leaves the bindings to the
// caller, which notifies them without the mutex.
func (v *validity) lapseLocked(now time.Time) *term {
	if v.term == nil || now.Before(v.leases.validUntil()) {
		return nil
	}
	v.ranLocked(now)
	return v.endTermLocked(session.ErrNotRenewed, v.lossLocked(now, cause.Lapsed))
}

func (v *validity) endTermLocked(reason error, loss *loss) *term {
	t := v.term
	if t == nil {
		return nil
	}
	v.term = nil
	v.ending.Add(1) // until endBindings
	v.valid = make(chan struct{})
	t.loss, t.err = loss, &lostError{reason, loss}
	t.until = earliest(v.clock.Now(), v.leases.validUntil())
	return t
}

// renewTermLocked begins a term if the session is connected and valid and has none.
func (v *validity) renewTermLocked(now time.Time) {
	if v.term == nil && v.online && v.over == nil && now.Before(v.leases.validUntil()) {
		v.term = &term{validity: v}
		close(v.valid)
	}
}

// end ends the bindings of an ended term, and has them tidied up: once for each term, without the mutex. t may be nil.
func (t *term) end() {
	if t != nil {
		bindings := t.endBindings()
		t.validity.endSample()
		t.validity.tidy(bindings)
	}
}

// endBindings ends the bindings of an ended term, and returns them for tidy. It does nothing else in between, because
// once a lease is overdue another client may already hold the lock.
func (t *term) endBindings() []*binding {
	if t == nil {
		return nil
	}
	defer t.validity.ending.Done()
	t.validity.mu.Lock()
	bindings := t.bindings
	t.bindings = nil
	t.validity.mu.Unlock()
	for _, b := range bindings {
		b.onEnd(t.err)
	}
	t.loss.keep()
	return bindings
}

const tidyBatch = 64

// tidy has ended bindings tidied up, on another goroutine, because many take a while. The many goroutines that were
// notified run first.
func (v *validity) tidy(bindings []*binding) {
	if len(bindings) == 0 {
		return
	}
	v.tell.Chore(func() {
		for i, b := range bindings {
			if i%tidyBatch == 0 {
				runtime.Gosched()
			}
			if b.cleanup != nil {
				b.cleanup()
			}
		}
	})
}

// blockUntilValid is [Session.BlockUntilValid].
func (v *validity) blockUntilValid(ctx context.Context) error {
	defer v.startRenewal()()
	for {
		if err := v.waitAttached(ctx); err != nil {
			return err
		}
		now := v.clock.Now()
		v.mu.Lock()
		lapsed := v.lapseLocked(now)
		valid, ready := v.valid, v.term != nil && v.online
		v.mu.Unlock()
		lapsed.end()
		if ready {
			return nil
		}
		v.wakeClock() // this wait may be all that needs a renewal
		select {
		case <-valid:
		case <-v.done:
		case <-ctx.Done():
		}
	}
}

// startRenewal is [Session.StartRenewal].
func (v *validity) startRenewal() (stop func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept++
	v.wakeIfDueLocked(v.clock.Now())
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.kept--
	}
}
