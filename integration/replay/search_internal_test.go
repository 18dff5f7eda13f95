package main

import (
	"errors"
	"testing"
)

func TestSearchReportsTheSmallestNumberThatFails(t *testing.T) {
	for name, numbers := range map[string][]uint64{"in order": {3, 9}, "out of order": {9, 3}} {
		s := searching{next: 1, last: 10}
		s.add(outcome{schedule: 1}, nil, &replayer{})
		for _, n := range numbers {
			s.add(outcome{schedule: n, code: failed}, nil, &replayer{})
		}
		s.add(outcome{schedule: 2}, nil, &replayer{})
		if s.failure == nil || s.failure.schedule != 3 || s.err != nil {
			t.Errorf("%s: got %+v, %v; want schedule 3", name, s.failure, s.err)
		}
	}
}

func TestSearchTakesNumbersInTheirOrderUntilOneFails(t *testing.T) {
	s := searching{next: 2, last: 4}
	for want := uint64(2); want <= 3; want++ {
		if got, more := s.take(); got != want || !more {
			t.Errorf("got %d, %t; want %d", got, more, want)
		}
	}
	for name, s := range map[string]*searching{
		"a failure": {next: 2, last: 4, failure: &outcome{}},
		"an error":  {next: 2, last: 4, err: errors.New("x")},
		"the last":  {next: 5, last: 4},
	} {
		if got, more := s.take(); more {
			t.Errorf("after %s: got %d, want no more", name, got)
		}
	}
}

func TestSearchWithoutATestIsAnError(t *testing.T) {
	s := searching{next: 1, last: 4}
	s.add(outcome{schedule: 1, output: []byte("testing: warning: no tests to run\nPASS\n")}, nil, &replayer{})
	if s.err == nil {
		t.Error("got no error, want one that says so")
	}
}
