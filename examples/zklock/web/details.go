package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// opened is a lock whose details a page shows.
type opened struct {
	lock   *survey.Lock
	recent []survey.Change
	counts [2]int32
	next   time.Time // the earliest time of the next read
	text   []byte    // as the pages have it; nil before the first
}

const (
	// mostShown is how many contenders a page gets.
	mostShown = 100
	// mostRead is how many contenders are read again although no counter has changed: a request to leave changes data
	// alone, which no counter shows.
	mostRead = 16
	// rest is how long a long queue that changes is not read again, in times that the last read took.
	rest = 5
)

// details reads the locks that are open and may have changed, and returns those that have.
func (h *hub) details(ctx context.Context) (texts map[string][]byte, err error) {
	h.mu.Lock()
	paths := slices.Collect(maps.Keys(h.seen))
	h.mu.Unlock()
	texts = map[string][]byte{}
	for _, path := range paths {
		text, problem := h.detail(ctx, path)
		if text != nil {
			texts[path] = text
		}
		err = errors.Join(err, problem)
	}
	return texts, err
}

// detail returns what a lock's pages have to change, nil if that is nothing.
func (h *hub) detail(ctx context.Context, path string) ([]byte, error) {
	counts, _, err := h.counts(ctx, path) // before the read: what comes in between is counted by the next look
	if err != nil {
		return nil, err
	}
	before := h.lastSeen(path)
	if before.lock != nil && (counts == before.counts && len(before.lock.Contenders) > mostRead || time.Now().Before(before.next)) {
		return nil, nil
	}
	begun := time.Now()
	lock, err := survey.Read(ctx, h.options.Client, path)
	if before.lock != nil && errors.Is(err, survey.ErrNoLock) {
		lock, err = &survey.Lock{Path: path, Kind: before.lock.Kind}, nil // the servers removed an empty directory
	}
	if errors.Is(err, survey.ErrNoLock) {
		return h.differs(path, encode(map[string]string{"path": path, "error": plain(err)})), nil
	}
	if err != nil {
		return nil, err
	}
	var news []survey.Change
	if before.lock != nil { // what stands there at the first look has not just come
		news = survey.Compare(before.lock, lock, time.Now())
	}
	h.mu.Lock()
	o := h.seen[path]
	if o == nil {
		h.mu.Unlock()
		return nil, nil
	}
	o.recent = append(o.recent, news...)
	o.recent = o.recent[max(len(o.recent)-50, 0):]
	o.lock, o.counts = lock, counts
	if len(lock.Contenders) > mostRead {
		o.next = time.Now().Add(rest * time.Since(begun))
	}
	text := encode(h.show(lock, o.recent))
	h.mu.Unlock()
	return h.differs(path, text), nil
}

// differs returns a text that the pages of a lock do not have.
func (h *hub) differs(path string, text []byte) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.seen[path]
	if o == nil || bytes.Equal(o.text, text) {
		return nil
	}
	o.text = text
	return text
}

// lastSeen is what stood at an open lock at the last look; zero before the first.
func (h *hub) lastSeen(path string) opened {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o := h.seen[path]; o != nil {
		return *o
	}
	return opened{}
}

// shown is a lock as the page gets it.
type shown struct {
	*survey.Lock
	Holders  int             `json:"holders"`
	Waiting  int             `json:"waiting"`
	More     int             `json:"more,omitempty"` // contenders behind those that are shown
	Sessions []string        `json:"sessions"`       // the contenders' sessions, in queue order
	Recent   []survey.Change `json:"recent"`
}

func sessionText(id int64) string { return fmt.Sprintf("%#x", uint64(id)) }

// show leaves out what is to be hidden, and all contenders but the first.
func (h *hub) show(lock *survey.Lock, recent []survey.Change) shown {
	copied := *lock
	copied.Contenders = slices.Clone(lock.Contenders[:min(len(lock.Contenders), mostShown)])
	s := shown{
		Lock: &copied, Holders: len(lock.Holders()), Waiting: lock.Waiting(), More: len(lock.Contenders) - len(copied.Contenders),
		Recent: slices.Clone(recent),
	}
	for i, c := range copied.Contenders {
		s.Sessions = append(s.Sessions, sessionText(c.Session))
		copied.Contenders[i].Who = h.hidden(c.Who)
	}
	for i := range s.Recent {
		s.Recent[i].Who = h.hidden(s.Recent[i].Who)
	}
	return s
}
