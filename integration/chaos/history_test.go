//go:build linux

package chaos_test

import (
	"fmt"
	"strings"
	"sync"

	"github.com/gocurator/curator/integration/interop/godriver"
)

// A hold is what a driver reports of a lock, by CLOCK_MONOTONIC.
type hold struct {
	who, language, path, node string
	shared                    bool
	from, to                  int64
	valid                     int64 // ours: until when the lease lasted at most; 0 if its process was killed
	killed                    bool
}

// lost reports whether a lease of ours ended before its release.
func (h hold) lost() bool { return h.valid != 0 && h.valid < h.to }

func (h hold) String() string {
	return fmt.Sprintf("%s with %s/%s from %.3f to %.3f s", h.who, h.path, h.node, float64(h.from)/1e9, float64(h.to)/1e9)
}

// A history collects what drivers report, and judges what needs nothing else. It is safe for concurrent use.
type history struct {
	mu       sync.Mutex
	posts    map[string]post
	language map[string]string
	open     map[string]*hold
	closed   []hold
	latest   map[string]int64 // by directory: when the latest hold began
	writes   map[string]int   // by kind, and refused
	failed   map[string]int   // by language: acquires and releases
	problems []string
}

func newHistory() *history {
	return &history{
		posts: map[string]post{}, language: map[string]string{}, open: map[string]*hold{}, latest: map[string]int64{},
		writes: map[string]int{}, failed: map[string]int{},
	}
}

func (h *history) hire(who, language string, p post) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.recipe == "semaphore" {
		p.path += "/leases"
	}
	h.posts[who], h.language[who] = p, language
}

func (h *history) hear(a godriver.Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.posts[a.Who]
	if !ok || p.path == "" {
		return
	}
	switch a.Event {
	case "acquired":
		one := &hold{who: a.Who, language: h.language[a.Who], path: p.path, shared: p.side == "read", from: a.Began}
		if len(a.Nodes) > 0 {
			one.node = a.Nodes[0]
		}
		h.open[a.Who], h.latest[p.path] = one, max(h.latest[p.path], a.Began)
	case "released":
		h.end(a.Who, a.Began, a.Valid)
	case "wrote":
		h.wrote(a)
	case "failed":
		h.failed[h.language[a.Who]]++
	}
}

func (h *history) end(who string, at, valid int64) {
	one := h.open[who]
	if one == nil {
		return
	}
	delete(h.open, who)
	one.to, one.valid, one.killed = at, valid, valid == 0 && one.language == ours
	h.closed = append(h.closed, *one)
}

// died ends the holds of a process that was killed.
func (h *history) died(whos []string, at int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, who := range whos {
		h.end(who, at, 0)
	}
}

// wrote judges a write by the times of its holder: it was begun while the lease was valid; and if it was refused, the
// lease ended before the answer.
func (h *history) wrote(a godriver.Answer) {
	kind := a.IDs[0]
	if a.Began > a.Valid {
		h.problem("%s began to write (%s) %d ns after it had lost its lease", a.Who, kind, a.Began-a.Valid)
	}
	switch {
	case a.OK:
		h.writes[kind]++
	case a.Error == godriver.Refused:
		h.writes[godriver.Refused]++
		if a.Ended < a.Valid {
			h.problem("%s was refused (%s) while its lease was valid", a.Who, kind)
		}
	default:
		h.writes["failed"]++
		if !strings.Contains(a.Error, "lost") {
			h.problem("%s could not write (%s): %s", a.Who, kind, a.Error)
		}
	}
}

func (h *history) problem(format string, args ...any) {
	h.problems = append(h.problems, fmt.Sprintf(format, args...))
}

// unserved returns the directories in which no hold has begun since a time.
func (h *history) unserved(since int64) (waiting []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, dir := range queues {
		if h.latest[dir] <= since {
			waiting = append(waiting, dir)
		}
	}
	return waiting
}
