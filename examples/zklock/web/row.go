package web

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// A Row is a lock in the overview. Times are in milliseconds, by the clock of the ZooKeeper servers; 0 is none.
type Row struct {
	Path    string    `json:"path"`
	Kind    string    `json:"kind"`
	Holders int       `json:"holders"`
	Waiting int       `json:"waiting"`
	Who     string    `json:"who,omitempty"`    // the first holder
	Since   int64     `json:"since,omitempty"`  // when that came
	Oldest  int64     `json:"oldest,omitempty"` // when the first waiter came
	Rate    float64   `json:"rate"`             // acquisitions a second
	Past    []float64 `json:"past,omitempty"`

	counts [2]int32
	known  bool
	sent   bool // the pages know it
	at     time.Time
	unread time.Time // since when the head is to be read; zero if it was read
}

// sparkPoints is how many rates the overview remembers.
const sparkPoints = 60

// mostHeads is how many locks with changes are read closer in a look: two or three reads each. The others wait for the
// next look, those that have waited longest first.
const mostHeads = 200

func (h *hub) isSemaphore(path string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	row := h.rows[path]
	return row != nil && strings.Contains(row.Kind, "semaphore")
}

// update notes what was counted. It reports whether the row has changed.
func (h *hub) update(path string, counts [2]int32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	row := h.rows[path]
	if row == nil {
		return false
	}
	now, rate := time.Now(), 0.0
	if passed := now.Sub(row.at).Seconds(); row.known && passed > 0 {
		rate = float64(max(counts[0]-row.counts[0], 0)) / 2 / passed
	}
	if row.counts != counts && row.unread.IsZero() {
		row.unread = now
	}
	news := rate != row.Rate
	row.Rate, row.counts, row.at, row.known = rate, counts, now, true
	row.Past = append(row.Past, rate)
	row.Past = row.Past[max(len(row.Past)-sparkPoints, 0):]
	return news
}

// toRead are the locks whose heads are to be read, and when they were counted last.
func (h *hub) toRead() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var rows []*Row
	for _, row := range h.rows {
		if !row.unread.IsZero() && row.Kind != "?" {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b *Row) int { return cmp.Or(a.unread.Compare(b.unread), cmp.Compare(a.Path, b.Path)) })
	var paths []string
	for _, row := range rows[:min(len(rows), mostHeads)] {
		row.unread = time.Time{} // a change from here on is counted by the next look
		paths = append(paths, row.Path)
	}
	return paths
}

// readHeads reads who holds the locks that have changed, and who waits.
func (h *hub) readHeads(ctx context.Context) (changed []string, err error) {
	paths := h.toRead()
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, path := range paths {
		group.Go(func() error {
			head, err := survey.ReadHead(ctx, h.options.Client, path)
			if h.take(path, head, err) {
				mu.Lock()
				defer mu.Unlock()
				changed = append(changed, path)
			}
			return err
		})
	}
	err = group.Wait()
	return changed, err
}

// take notes a head. One that could not be read is to be read again.
func (h *hub) take(path string, head survey.Head, err error) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	row := h.rows[path]
	switch {
	case row == nil:
		return false
	case err != nil:
		row.unread = time.Now()
		return false
	}
	before := *row
	row.Holders, row.Waiting, row.Who, row.Since, row.Oldest = head.Holders, head.Waiting, h.hidden(head.Who), milli(head.Since), milli(head.Oldest)
	if head.Kind != "unused" {
		row.Kind = head.Kind
	}
	return row.Holders != before.Holders || row.Waiting != before.Waiting || row.Who != before.Who || row.Since != before.Since ||
		row.Oldest != before.Oldest || row.Kind != before.Kind
}

func milli(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}
