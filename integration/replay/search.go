package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// search runs the schedules in their order, several at a time, until one fails. It returns the failure with the
// smallest number, or nil.
func (r *replayer) search(ctx context.Context, all numbers, faults []byte) (*outcome, error) {
	s := searching{next: all.first, last: all.last, started: time.Now()}
	args := r.arguments(r.records, faults != nil)
	var workers sync.WaitGroup
	for range r.workers {
		workers.Go(func() {
			for {
				number, more := s.take()
				if !more {
					return
				}
				o, err := r.hosts.execute(ctx, job{schedule: number, arguments: args, faults: faults})
				s.add(o, err, r)
			}
		})
	}
	workers.Wait()
	return s.failure, s.err
}

// searching is how far a search is.
type searching struct {
	mu         sync.Mutex
	next, last uint64
	failure    *outcome
	err        error
	started    time.Time
}

// take returns a number to try, as long as nothing has failed.
func (s *searching) take() (number uint64, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil || s.err != nil || s.next > s.last {
		return 0, false
	}
	s.next++
	return s.next - 1, true
}

// add notes how a schedule ended.
func (s *searching) add(o outcome, err error, r *replayer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.err = errors.Join(s.err, err)
	case o.code != 0:
		if s.failure == nil || o.schedule < s.failure.schedule {
			s.failure = &o
		}
	case bytes.Contains(o.output, []byte("testing: warning: no tests to run")):
		s.err = fmt.Errorf("no test of %s matches -run %s", r.pkg, quote(r.pattern))
	case r.verbose:
		r.reportPassed(o)
	}
}

// narrow replaces a failure of many simulations by one of the simulation that failed, run alone, if it finds one.
func (r *replayer) narrow(ctx context.Context, first **outcome) error {
	s, found := failedSection((*first).history)
	if !found || s.seed == r.seed {
		return nil
	}
	wide := r.config
	r.pattern, r.seed = s.pattern(), s.seed
	alone, err := r.search(ctx, numbers{1, r.schedules}, r.faults)
	if err != nil {
		return err
	}
	if alone == nil {
		r.config = wide
		return nil
	}
	*first = alone
	return nil
}
