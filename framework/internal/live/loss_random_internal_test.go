package live

import (
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/sampletest"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// A trouble is something that a process meets for a time.
type trouble struct {
	kind     session.LossKind
	from, to time.Time
}

// live gives a process troubles at random, of which several may come at once, until its binding has ended. It returns
// for how long each trouble lasted in the session timeout and a quarter before, and what the binding ended by; nil if
// the process has lived long.
func (p *process) live() (lasted map[session.LossKind]time.Duration, lost error) {
	var all []trouble
	link := session.LossUnknown // what is wrong with it
	for end := time.Now().Add(40 * p.timeout); time.Now().Before(end); {
		lasts := p.part(.01) + p.upTo(p.part(.12))
		if p.rand.IntN(2) == 0 {
			lasts = p.part(.02) + p.upTo(p.part(.5))
		}
		now := time.Now()
		switch p.rand.IntN(5) {
		case 0:
			p.link.Heal()
			p.link.Reset()
			p.link.Cut()
			link = session.LossNotReached
		case 1:
			p.link.Heal()
			p.link.Mute()
			link = session.LossNotAnswered
		case 2:
			p.link.Heal()
			if link == session.LossNotAnswered { // what was swallowed does not come
				p.link.Reset()
			}
			link = session.LossUnknown
		default:
			p.stop(lasts)
			all = append(all, trouble{session.LossProcessStopped, now, now.Add(lasts)})
		}
		all = append(all, trouble{link, now, now.Add(lasts)})
		select {
		case lost = <-p.ended:
			lasted = make(map[session.LossKind]time.Duration)
			for _, t := range all {
				if time.Since(t.to) < p.timeout*5/4 {
					lasted[t.kind] += min(t.to.Sub(t.from), time.Since(t.from))
				}
			}
			return lasted, lost
		case <-time.After(lasts):
		}
	}
	return nil, nil
}

// Whatever comes together, a kind that is named was there for a good part of the time.
func TestNoKindIsNamedThatWasHardlyThere(t *testing.T) {
	named := make(map[session.LossKind]int)
	sample := sampletest.New(t)
	for _, seed := range sample.Part(300, 3) {
		zktest.Bubble(t, func(t *testing.T) {
			p := newProcess(t, seed, nil)
			lasted, lost := p.live()
			defer func() { time.Sleep(time.Until(p.until)) }() // dialers return
			if lost == nil {
				return
			}
			got := session.Explain(lost)
			named[got.Kind]++
			kind := got.Kind
			if kind == session.LossNotServing { // a link that is reset while the server answers nothing
				kind = session.LossNotAnswered
			}
			if kind != session.LossUnknown && lasted[kind] < p.timeout/10 {
				t.Errorf("seed %d: got %v: %s in a session of %v, where %v lasted\n\t%s", seed, got.Kind, got, p.timeout, lasted,
					strings.Join(got.Evidence, "\n\t"))
			}
		})
	}
	t.Log(named)
	for _, kind := range []session.LossKind{session.LossProcessStopped, session.LossNotReached, session.LossNotAnswered, session.LossUnknown} {
		if want := sample.Scale(10, 3); named[kind] < want {
			t.Errorf("got %v %d times, want %d", kind, named[kind], want)
		}
	}
}
