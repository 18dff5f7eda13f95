package leader

// A standing is what a latch knows of itself: it decides and does nothing. T is the type of terms; its zero value is
// none. LeaderLatch.mu guards it.
type standing[T comparable] struct {
	started bool
	closed  bool
	term    T     // the present one; none while the latch does not lead
	failed  error // why the last campaign failed; nil if it goes on or has succeeded
	left    error // the error of the release at Close
}

// start begins a Start, if the latch can start.
func (s *standing[T]) start() error {
	if s.started || s.closed {
		return ErrStarted
	}
	s.started, s.failed, s.left = true, nil, nil
	return nil
}

// startFailed takes a Start back that err has ended, and returns its error.
func (s *standing[T]) startFailed(err error) error {
	s.started = false
	if s.closed {
		return ErrNotStarted
	}
	return err
}

// close reports whether the latch was closed before.
func (s *standing[T]) close() (again bool) {
	again, s.closed = s.closed, true
	return again
}

// note notes the present term, or why there is none. turned reports that the listeners hear of it.
func (s *standing[T]) note(term T, failed error) (turned bool) {
	turned = s.leads() != (term != *new(T))
	s.term, s.failed = term, failed
	return turned
}

// leads reports whether there is a term, which may have ended.
func (s *standing[T]) leads() bool { return s.term != *new(T) }

// await is what Await returns, if it need not wait: isOver reports whether a term has ended.
func (s *standing[T]) await(isOver func(T) bool) (term T, waits bool, err error) {
	switch {
	case !s.started || s.closed:
		return term, false, ErrNotStarted
	case s.leads() && !isOver(s.term):
		return s.term, false, nil
	case s.failed != nil:
		return term, false, s.failed
	default:
		return term, true, nil
	}
}
