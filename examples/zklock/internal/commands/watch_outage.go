package commands

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// An outage is what was said of one.
type outage int

const (
	none     outage = iota
	unheard         // the servers do not answer
	outdated        // for longer than the session timeout
)

// stale is how many looks may fail to come, or time may pass, before what is shown is called old.
const (
	staleLooks = 3
	staleTime  = 3 * time.Second
)

// age is how old what is shown is.
func (w *watcher) age() time.Duration { return w.now.Sub(w.at) }

// outage is what is to be said now.
func (w *watcher) outage() outage {
	switch {
	case w.timeout > 0 && w.age() > w.timeout:
		return outdated
	case w.trouble != "", w.age() > max(staleLooks*w.every, staleTime):
		return unheard
	default:
		return none
	}
}

// outages returns the events of an outage that were not shown yet. They stand among those of the lock.
func (w *watcher) outages() []survey.Change {
	now := w.outage()
	if now == w.shown || now == unheard && w.shown == outdated {
		return nil
	}
	what := "silence"
	if now == none {
		what = "answer"
	}
	news := []survey.Change{{At: w.now, What: what, Why: w.why(now), After: w.age().Seconds()}}
	if now == none {
		news[0].After = 0
	}
	w.shown = now
	w.remember(news)
	return news
}

// why is an outage, or its end, in words.
func (w *watcher) why(now outage) string {
	age := short(w.age())
	switch now {
	case outdated:
		return fmt.Sprintf("what is known is %s old, older than the session timeout: who holds is not known", age)
	case unheard:
		return fmt.Sprintf("no server of %s answers; what is known is %s old", w.servers, age)
	default:
		return "the servers answer again"
	}
}
