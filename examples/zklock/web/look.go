package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// look reads the locks, and sends the pages what has changed. What they show is as fresh as the beginning of the last
// look in which every read was answered.
func (h *hub) look(ctx context.Context) {
	limit := max(10*h.options.Every, 10*time.Second)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no server%s has answered for %v", h.named(), limit))
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
	changed, measured := h.measure(ctx, paths)
	heads, headed := h.readHeads(ctx)
	details, detailed := h.details(ctx)
	err = errors.Join(err, measured, headed, detailed)
	timeout := h.timeout(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status.Reads, h.status.MS, h.status.Timeout = reads, float64(time.Since(begun).Microseconds())/1000, timeout
	h.status.Failed = ""
	switch {
	case err != nil && ctx.Err() != nil:
		h.status.Failed = plain(context.Cause(ctx))
	case err != nil:
		h.status.Failed = plain(firstOf(err))
	default:
		h.status.Fresh = begun.UnixMilli()
	}
	news := h.merge(changed, heads)
	for p := range h.pages {
		h.send(p, news)
		if text, ok := details[p.lock]; ok && !p.behind {
			h.post(p, message{"lock", text})
		}
	}
	h.gone = nil
}

// firstOf is the first of joined errors: in an outage each read fails for the same reason.
func firstOf(err error) error {
	for {
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok || len(joined.Unwrap()) == 0 {
			return err
		}
		err = joined.Unwrap()[0]
	}
}

// timeout is the session timeout that the servers have granted, in milliseconds; 0 before the first session.
func (h *hub) timeout(ctx context.Context) int64 {
	h.mu.Lock()
	known := h.status.Timeout
	h.mu.Unlock()
	if !h.options.Client.State().IsConnected() {
		return known
	}
	session, err := h.options.Client.Session(ctx)
	if err != nil {
		return known
	}
	return session.Timeout().Milliseconds()
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
			row = &Row{Path: f.Path, unread: time.Now()}
		}
		if row.Kind != f.Kind {
			row.Kind, row.sent = f.Kind, false
		}
		h.rows[f.Path] = row
	}
	for path := range old {
		if h.rows[path] == nil {
			h.gone = append(h.gone, path)
		}
	}
	slices.Sort(h.gone)
}

// measure reads how many nodes have come and gone in each directory: one read for each lock, of any server, and another
// one for the gate of a semaphore.
func (h *hub) measure(ctx context.Context, paths []string) (changed []string, err error) {
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, path := range paths {
		group.Go(func() error {
			counts, there, err := h.counts(ctx, path)
			if err != nil || !there {
				return err // a lock that has gone is found by the next search
			}
			if h.update(path, counts) {
				mu.Lock()
				defer mu.Unlock()
				changed = append(changed, path)
			}
			return nil
		})
	}
	err = group.Wait()
	return changed, err
}

// counts are the changes of the directories of a lock, as the servers count them.
func (h *hub) counts(ctx context.Context, path string) (c [2]int32, there bool, err error) {
	dirs := []string{path}
	if h.isSemaphore(path) {
		dirs = []string{path + "/leases", path + "/locks"}
	}
	for i, dir := range dirs {
		stat, err := h.options.Client.Exists(ctx, dir)
		if err != nil {
			return c, false, err
		}
		if stat != nil {
			c[i], there = stat.Cversion, true
		}
	}
	return c, there, nil
}

// merge returns the rows that the pages do not know, in the order of their paths. mu is held.
func (h *hub) merge(paths ...[]string) (news []Row) {
	all := slices.Concat(paths...)
	for path, row := range h.rows {
		if !row.sent {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	for _, path := range slices.Compact(all) {
		if row := h.rows[path]; row != nil {
			row.sent = true
			sent := *row
			sent.Past = nil
			news = append(news, sent)
		}
	}
	slices.SortFunc(news, func(a, b Row) int { return cmp.Compare(a.Path, b.Path) })
	return news
}
