package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

const (
	// pastSpan is how much of a lock's past is shown.
	pastSpan = time.Hour
	// pastShown is how many contenders of it are shown, the newest.
	pastShown = 300
	// pastKept is for how many locks the past is kept.
	pastKept = 16
	// pastRest is for how long a past is shown without another reading of it. pastPause is between two readings of
	// any locks, and pastShare the same for both in times that the reading took: the logs of a busy ensemble are long.
	pastRest  = 10 * time.Second
	pastPause = time.Second
	pastShare = 20
	// pastPatience is how long a request waits for a reading. The reading goes on.
	pastPatience = 2 * time.Second
)

// A Past is what the servers' logs say of a lock, until their newest transaction.
type Past struct {
	Path       string    `json:"path"`
	From       time.Time `json:"from,omitzero"`
	To         time.Time `json:"to,omitzero"`
	Contenders []Passed  `json:"contenders"`
	More       int       `json:"more,omitempty"`       // older contenders that are left out
	MayOverlap []string  `json:"mayOverlap,omitempty"` // see history.Lock
	Notes      []string  `json:"notes,omitempty"`
	Failed     string    `json:"failed,omitempty"`  // why the logs were not read
	Reading    string    `json:"reading,omitempty"` // they are being read: what is shown is old, or nothing yet
}

// A Passed is a contender of the past. Times are zero if they are not known, or have not come: Held and Gone say which.
type Passed struct {
	Who     string    `json:"who"`
	Session string    `json:"session"`
	Token   int64     `json:"token"`
	Queued  time.Time `json:"queued,omitzero"`
	LetIn   time.Time `json:"letIn,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	How     string    `json:"how,omitempty"`
	Held    bool      `json:"held,omitempty"`    // it was let in
	Earlier bool      `json:"earlier,omitempty"` // that was before the logs begin, at LetIn or later
	Gone    bool      `json:"gone,omitempty"`    // its node is not there any more
}

// A historian reads logs for all pages, one lock at a time: a directory that hangs holds up the goroutine that reads
// it, and no page.
type historian struct {
	dirs   []string
	chroot string
	hide   func(who string) string
	now    func() time.Time
	look   func(lock string) Past // it is called by one goroutine at a time
	stamp  func() string          // likewise: see stampOf

	mu      sync.Mutex
	nextAt  time.Time // nothing is read before
	known   map[string]*known
	reading *reading // nil while nothing is read
}

type known struct {
	past  Past
	until time.Time // nothing is read again before
	stamp string
}

type reading struct {
	path  string
	begun time.Time
	done  chan struct{}
}

func newHistorian(options Options, hide func(string) string) *historian {
	h := &historian{dirs: options.Logs, hide: hide, now: time.Now, known: map[string]*known{}}
	h.look = h.pastOf
	h.stamp = func() string { return stampOf(h.dirs, time.Now()) }
	_, h.chroot = fourletter.Split(options.Servers)
	return h
}

// ask returns the past of a lock. It blocks for pastPatience at most.
func (h *historian) ask(ctx context.Context, lock string) Past {
	h.mu.Lock()
	if k := h.known[lock]; k != nil && h.now().Before(k.until) {
		h.mu.Unlock()
		return k.past
	}
	if h.reading == nil {
		if pause := h.nextAt.Sub(h.now()); pause > 0 {
			past := h.latest(lock)
			h.mu.Unlock()
			past.Reading = "the logs are being read at times: again in " + max(time.Second, pause.Round(time.Second)).String()
			return past
		}
		h.reading = &reading{lock, h.now(), make(chan struct{})}
		go h.read(*h.reading)
	}
	current := *h.reading
	h.mu.Unlock()
	patience := time.NewTimer(pastPatience)
	defer patience.Stop()
	select {
	case <-current.done:
	case <-patience.C:
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	past := h.latest(lock)
	if k := h.known[lock]; k == nil || !h.now().Before(k.until) {
		past.Reading = "the logs are being read, for " + h.now().Sub(current.begun).Round(time.Second).String() + " by now"
		if current.path != lock {
			past.Reading = "the logs are being read for another lock"
		}
	}
	return past
}

// latest is what was read of a lock, however old. mu is held.
func (h *historian) latest(lock string) Past {
	if k := h.known[lock]; k != nil {
		return k.past
	}
	return Past{Path: lock, Contenders: []Passed{}}
}

// read reads the past of one lock. It blocks for as long as the files do.
func (h *historian) read(r reading) {
	stamp := h.stamp()
	h.mu.Lock()
	old := h.known[r.path]
	h.mu.Unlock()
	var past Past
	if stamp != "" && old != nil && old.stamp == stamp {
		past = old.past // the same would be read again
	} else {
		past = h.look(r.path)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.known) >= pastKept {
		h.forgetOldest()
	}
	now := h.now()
	share := pastShare * now.Sub(r.begun)
	h.known[r.path] = &known{past, now.Add(max(pastRest, share)), stamp}
	h.nextAt = now.Add(max(pastPause, share))
	h.reading = nil
	close(r.done)
}

func (h *historian) forgetOldest() {
	oldest := ""
	for lock, k := range h.known {
		if oldest == "" || k.until.Before(h.known[oldest].until) {
			oldest = lock
		}
	}
	delete(h.known, oldest)
}

// pastNotes is how many notes are shown.
const pastNotes = 3

// worstNotes are the texts of some notes, those of missing transactions first, and how many more there are.
func worstNotes(all []txnlog.Note) (texts []string) {
	harmless := func(n txnlog.Note) int {
		switch n.Kind {
		case txnlog.Damaged, txnlog.Gap, txnlog.Differs, txnlog.NoLog:
			return 0
		default:
			return 1
		}
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b txnlog.Note) int { return cmp.Compare(harmless(a), harmless(b)) })
	for _, n := range all[:min(len(all), pastNotes)] {
		texts = append(texts, survey.Printable(n.String()))
	}
	if more := len(all) - pastNotes; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more, which zklock history names", more))
	}
	return texts
}

func (h *historian) pastOf(lock string) Past {
	past := Past{Path: lock, Contenders: []Passed{}}
	at := path.Join("/", h.chroot, lock)
	found, err := history.ReadLock(at, h.dirs, pastSpan, history.Options{Most: pastShown})
	if found != nil {
		past.From, past.To, past.More = found.To.At.Add(-pastSpan), found.To.At, found.Omitted
		if past.From.Before(found.From.At) {
			past.From = found.From.At
		}
		past.Notes = worstNotes(found.Notes)
	}
	switch {
	case errors.Is(err, history.ErrNoLock):
		return past
	case err != nil:
		past.Failed = plain(err)
		return past
	}
	for _, l := range found.Locks {
		if l.Path != at { // the path is a part of a lock
			continue
		}
		past.MayOverlap = l.MayOverlap
		past.More += max(0, len(l.Contenders)-pastShown)
		for _, c := range l.Contenders[max(0, len(l.Contenders)-pastShown):] {
			past.Contenders = append(past.Contenders, Passed{
				Who: h.hide(c.Who), Session: sessionText(c.Session), Token: c.Token,
				Queued: c.Queued.At, LetIn: c.LetIn.At, Ended: c.Ended.At, How: string(c.How),
				Held: c.In(), Earlier: c.LetInEarlier, Gone: c.How != "",
			})
		}
	}
	return past
}

// past answers what the servers' logs say of a lock, as JSON.
func (h *Handler) past(w http.ResponseWriter, r *http.Request) {
	lock := r.URL.Query().Get("path")
	switch {
	case len(h.options.Logs) == 0:
		http.Error(w, "no logs are shown; zklock serve -log names them", http.StatusNotFound)
	case !h.isBelow(lock):
		http.Error(w, "no such lock here", http.StatusNotFound)
	default:
		answer(w, h.historian.ask(r.Context(), lock))
	}
}
