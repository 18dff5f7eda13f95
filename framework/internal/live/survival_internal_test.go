package live

import (
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/zktest"
)

func TestWhichEndOfASessionTookItsNodes(t *testing.T) {
	for name, c := range map[string]struct {
		how   cause.How
		early bool // it ended before its time was up
		late  bool // the removal was heard of when its time was up
		want  bool
	}{
		"expired in its time":                  {cause.Expired, true, false, true},
		"expired after an outage":              {cause.Expired, false, false, false},
		"expired, after a pause":               {cause.Expired, false, true, true},
		"timed out after an outage":            {cause.TimedOut, false, false, false},
		"timed out, after a pause":             {cause.TimedOut, false, true, true},
		"the client was closed":                {cause.ClientClosed, true, false, false},
		"the client was closed, after a pause": {cause.ClientClosed, true, true, false},
		"authentication was refused":           {cause.AuthRefused, true, true, false},
	} {
		end := &cause.Loss{How: c.how, At: 20, Until: 15}
		if c.early {
			end.Until = 25
		}
		if got := tookNodes(end, c.late); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}

// A process that did not run may hear of a removal before its clock runs.
func TestTheLossOfANodeKnowsWhetherTheTimeOfTheLeasesWasUp(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		p := newProcess(t, 0, nil)
		p.stop(3 * p.timeout)
		p.mu.Lock()
		is := p.validity.lossLocked(p.clock.Now(), cause.Lapsed).is
		p.mu.Unlock()
		if got, want := time.Duration(is.Until-is.From), p.timeout-p.timeout/100; (got - want).Abs() > time.Millisecond {
			t.Errorf("got a loss of leases by a time of %v, want the leases' %v", got, want)
		}
		for _, after := range []time.Duration{0, time.Until(p.session.ValidUntil())} {
			time.Sleep(after)
			want := after > 0
			var lost *nodeLoss
			if !errors.As(p.session.NodeLost(), &lost) || lost.late != want {
				t.Errorf("%v after the beginning of a pause: got %t, want %t", after, !want, want)
			}
		}
	})
}

func TestASettledLossOfANodeRetainsNoSession(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		p := newProcess(t, 0, nil)
		var lost *nodeLoss
		if !errors.As(p.session.NodeLost(), &lost) {
			t.Fatal("got no nodeLoss")
		}
		if lost.of.Load() == nil {
			t.Error("got a settlement, want none before an answer")
		}
		time.Sleep(p.timeout)
		if lost.of.Load() != nil || lost.end != nil || lost.after != nil {
			t.Error("the loss retains its session after an answer")
		}
	})
}
