//go:build linux

package causes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
)

// A tally counts what was named for one cause.
type tally struct {
	cause string
	want  session.LossKind
	// anyUnknown says that any number of losses may go unnamed.
	anyUnknown bool
	// more are the tallies of what the processes have beside locks, by its recipe.
	more map[string]*tally

	named, unknown, wrong int
	disturbed             int // not judged
}

// A truth is what is known of a loss without its client. Times are of godriver.Now.
type truth struct {
	began int64 // when the cause began
	ended int64 // when it ended, or the loss had been heard of
	// stopped says that the cause is that the process did not run.
	stopped bool
	// says checks the sentence, for a cause that lasted so long and a process that paused for so long.
	says func(sentence string, lasted, paused time.Duration) error
}

// judgeable reports whether a loss has this cause: one that alone would have ended the lease.
func (w truth) judgeable(a godriver.Answer) bool {
	if w.stopped {
		return a.Ended > w.began && w.ended-w.began >= int64(sessionTimeout)
	}
	return a.Ended > w.began && w.paused(a) < sessionTimeout/2
}

// shared reports whether something else that a client may see had a part in a loss.
func (w truth) shared(a godriver.Answer) bool { return !w.stopped && w.paused(a) >= sessionTimeout/8 }

// paused is for how long the process did not run before its loss.
func (w truth) paused(a godriver.Answer) (d time.Duration) {
	from := w.began - int64(sessionTimeout)
	for _, p := range a.Loss.Pauses {
		d += time.Duration(max(0, p.To-max(p.From, from)))
	}
	return d
}

// add judges a loss.
func (c *tally) add(t *testing.T, a godriver.Answer, w truth) {
	t.Helper()
	if a.Loss == nil {
		t.Errorf("%s: got no loss: %s", c.cause, a.Error)
		return
	}
	evidence := func() string {
		return fmt.Sprintf("%s: %s (%s)\n\tthe cause lasted %v, the loss came %v after its begin, the process paused for %v\n\t%s",
			a.Loss.Kind, a.Loss.Sentence, a.Loss.Reason, time.Duration(w.ended-w.began), time.Duration(a.Ended-w.began),
			w.paused(a), strings.Join(a.Loss.Evidence, "\n\t"))
	}
	unknown := a.Loss.Kind == session.LossUnknown.String()
	switch {
	case !w.judgeable(a) || w.shared(a) && unknown:
		c.disturbed++
		t.Logf("%s: not judged: %s", c.cause, evidence())
	case a.Loss.Kind == c.want.String():
		if err := w.says(a.Loss.Sentence, time.Duration(w.ended-w.began), w.paused(a)); err != nil {
			c.wrong++
			t.Errorf("%s: %v: got %s", c.cause, err, evidence())
			return
		}
		c.named++
	case unknown:
		c.unknown++
		if !c.anyUnknown {
			t.Logf("%s: got %s", c.cause, evidence())
		}
	default:
		c.wrong++
		t.Errorf("%s: got %s\nwant %v", c.cause, evidence(), c.want)
	}
}

func (c *tally) judged() int { return c.named + c.unknown + c.wrong }

// fill plays losses until enough are judged, and counts.
func (c *tally) fill(t *testing.T, play func(n int)) {
	t.Helper()
	for missing := *times; missing > 0; missing = *times - c.judged() {
		if c.disturbed > 20+2**times {
			await.Errorf(t, "%d losses by %s alone: got %d, and %d that could not be judged", *times, c.cause, c.judged(), c.disturbed)
			return
		}
		play(missing)
	}
	c.report(t)
	for _, other := range c.more {
		other.report(t)
	}
}

// report prints the figures, and fails the test if too few losses were named.
func (c *tally) report(t *testing.T) {
	t.Helper()
	judged := c.judged()
	fmt.Fprintf(t.Output(), "%s: %d losses, %d named %v, %d unknown, %d wrong; %d more not judged\n",
		c.cause, judged, c.named, c.want, c.unknown, c.wrong, c.disturbed)
	if !c.anyUnknown && c.unknown > max(1, judged/20) {
		t.Errorf("%s: named %d of %d, want 95 of a hundred", c.cause, c.named, judged)
	}
}

// says wants a part of a sentence.
func says(part string) func(string, time.Duration, time.Duration) error {
	return func(sentence string, _, _ time.Duration) error {
		if !strings.Contains(sentence, part) {
			return fmt.Errorf("the sentence lacks %q", part)
		}
		return nil
	}
}
