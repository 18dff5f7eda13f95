package transport

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

func TestTwoCallsAreUnderWayAtMost(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var calls Calls
		var begun atomic.Int32
		answers := []chan error{make(chan error), make(chan error), make(chan error)}
		attempt := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return calls.Await(ctx, "", func(context.Context, int) error {
				return <-answers[begun.Add(1)-1]
			})
		}
		for i, want := range []int32{1, 2, 2} {
			if err := attempt(); !errors.Is(err, errNoAnswer) || begun.Load() != want {
				t.Errorf("attempt %d: got %v with %d calls begun, want no answer yet and %d", i, err, begun.Load(), want)
			}
		}
		time.AfterFunc(time.Second/2, func() { answers[0] <- nil })
		if err := attempt(); err != nil || begun.Load() != 2 {
			t.Errorf("got %v with %d calls begun, want the answer of the first and 2", err, begun.Load())
		}
		time.AfterFunc(time.Second/2, func() { answers[2] <- nil })
		if err := attempt(); err != nil || begun.Load() != 3 {
			t.Errorf("got %v with %d calls begun, want the answer of the third and 3", err, begun.Load())
		}
		answers[1] <- nil
	})
}

func TestAnOlderLookupDoesNotReplaceANewerOne(t *testing.T) {
	r := NewRoute(nil, func(context.Context, string) ([]string, error) { return []string{"10.0.0.1"}, nil })
	r.known["zk"] = found{[]string{"10.0.0.2"}, 2}
	if err := r.renew(t.Context(), "zk", 1); err != nil || r.known["zk"].ips[0] != "10.0.0.2" {
		t.Errorf("got %v and %v, want the newer answer", r.known["zk"], err)
	}
}
