package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// look reads the locks, and tells the pages what has changed.
func (h *hub) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, max(10*h.options.Every, 10*time.Second))
	defer cancel()
	begun := time.Now()
	paths, search := h.known()
	reads := len(paths)
	var err error
	if search {
		var found []survey.Found
		if found, err = survey.Walk(ctx, h.options.Client, h.options.Root); err == nil {
			h.settle(found)
			paths, _ = h.known()
		}
	}
	changed := h.measure(ctx, paths)
	details := h.details(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reads, h.took, h.failed = reads, time.Since(begun), ""
	if err != nil {
		h.failed = survey.Printable(err.Error())
	}
	for p := range h.pages {
		h.send(p, changed)
		if text, ok := details[p.lock]; ok && !p.behind {
			h.post(p, message{"lock", text})
		}
	}
}

// known returns the locks to look at, and whether to search for others.
func (h *hub) known() (paths []string, search bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	search = h.number%rescan == 0
	h.number++
	for path, row := range h.rows {
		if row.Kind != "?" {
			paths = append(paths, path)
		}
	}
	return paths, search
}

// settle takes what a search has found.
func (h *hub) settle(found []survey.Found) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.rows
	h.rows = make(map[string]*Row, len(found))
	for _, f := range found {
		row := old[f.Path]
		if row == nil {
			row = &Row{Path: f.Path}
		}
		row.Kind = f.Kind
		h.rows[f.Path] = row
	}
	if len(old) != len(h.rows) {
		for p := range h.pages {
			p.behind = true // so that it gets all
		}
	}
}

// measure reads how many nodes are in each directory, and how many have come and gone: one read for each lock, of any
// server.
func (h *hub) measure(ctx context.Context, paths []string) (changed []Row) {
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, path := range paths {
		group.Go(func() error {
			dir := path
			if h.isSemaphore(path) {
				dir += "/leases"
			}
			stat, err := h.options.Client.Exists(ctx, dir)
			if err != nil || stat == nil {
				return err //nolint:nilnil // a lock that has gone is found by the next search
			}
			if row, news := h.update(path, int(stat.NumChildren), stat.Cversion); news {
				mu.Lock()
				defer mu.Unlock()
				changed = append(changed, row)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.failed = survey.Printable(err.Error())
	}
	slices.SortFunc(changed, func(a, b Row) int { return cmp.Compare(a.Path, b.Path) })
	return changed
}

func (h *hub) isSemaphore(path string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	row := h.rows[path]
	return row != nil && strings.Contains(row.Kind, "semaphore")
}

// update notes what was read. A row without news is not sent.
func (h *hub) update(path string, nodes int, version int32) (Row, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	row := h.rows[path]
	if row == nil {
		return Row{}, false
	}
	now, rate := time.Now(), 0.0
	if passed := now.Sub(row.at).Seconds(); row.known && passed > 0 {
		rate = float64(max(version-row.version, 0)) / 2 / passed
	}
	news := !row.known || nodes != row.Nodes || rate != row.Rate
	row.Nodes, row.Rate, row.version, row.at, row.known = nodes, rate, version, now, true
	row.Past = append(row.Past, rate)
	row.Past = row.Past[max(len(row.Past)-sparkPoints, 0):]
	return Row{Path: path, Kind: row.Kind, Nodes: nodes, Rate: rate}, news
}

// details reads the locks that are open.
func (h *hub) details(ctx context.Context) map[string][]byte {
	h.mu.Lock()
	paths := slices.Collect(maps.Keys(h.seen))
	h.mu.Unlock()
	texts := map[string][]byte{}
	for _, path := range paths {
		lock, err := survey.Read(ctx, h.options.Client, path)
		if known := h.lastSeen(path); known != nil && errors.Is(err, survey.ErrNoLock) {
			lock, err = &survey.Lock{Path: path, Kind: known.Kind}, nil // the servers removed an empty directory
		}
		if err != nil {
			texts[path] = encode(map[string]string{"path": path, "error": survey.Printable(err.Error())})
			continue
		}
		h.mu.Lock()
		if o := h.seen[path]; o != nil {
			o.recent = append(o.recent, survey.Compare(o.lock, lock, time.Now())...)
			o.recent = o.recent[max(len(o.recent)-50, 0):]
			o.lock = lock
			texts[path] = encode(h.show(lock, o.recent))
		}
		h.mu.Unlock()
	}
	return texts
}

// lastSeen is what stood at an open lock at the last look; nil before the first.
func (h *hub) lastSeen(path string) *survey.Lock {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o := h.seen[path]; o != nil {
		return o.lock
	}
	return nil
}

// shown is a lock as the page gets it.
type shown struct {
	*survey.Lock
	Sessions []string        `json:"sessions"` // of the contenders, in their order
	Recent   []survey.Change `json:"recent"`
}

// show leaves out what is to be hidden.
func (h *hub) show(lock *survey.Lock, recent []survey.Change) shown {
	copied := *lock
	copied.Contenders = slices.Clone(lock.Contenders)
	s := shown{Lock: &copied, Recent: slices.Clone(recent)}
	for i, c := range copied.Contenders {
		s.Sessions = append(s.Sessions, fmt.Sprintf("%#x", uint64(c.Session)))
		if h.options.HideData {
			copied.Contenders[i].Who = "(hidden)"
		}
	}
	for i := range s.Recent {
		if h.options.HideData {
			s.Recent[i].Who = "(hidden)"
		}
	}
	return s
}
