package commands

import (
	"context"
	"errors"
	"flag"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/framework"
)

const watchHelp = `zklock watch [flags] PATH

Shows a lock while it changes hands: who holds it, who waits, how often it is
acquired, and what happened lately. On a terminal it draws in place, in 80
columns; elsewhere it prints a line for each event. Ctrl-C ends it.

It looks once in a second, with one read if nothing has changed: what comes and
goes in between shows in the rate alone. The rate is that of creations and
deletions in the lock's directory, as the servers count them. That a holder has
left does not tell whether it released the lock or lost it: its own log does. A
contender that waited at one look and is gone at the next may have been let in.

Examples:

  zklock watch -zk zk1:2181 /locks/nightly
  zklock watch -every 200ms /locks/nightly
  zklock watch /locks/nightly | tee events.txt
` + statuses

func newWatch(set *flag.FlagSet) *looker {
	every := set.Duration("every", time.Second, "`duration` from look to look")
	lasting := set.Duration("for", 0, "end this `duration` after the first look (default: never)")
	return &looker{paths: [2]int{1, 1}, do: func(ctx context.Context, s *scene) error {
		if *every <= 0 {
			*every = time.Second
		}
		w := &watcher{client: s.client, path: s.paths[0], every: *every, lasting: *lasting}
		rows, onTerminal := terminalRows(s.out)
		var show func(*watcher, []survey.Change) error
		switch {
		case s.json:
			show = func(_ *watcher, news []survey.Change) error { return s.printEach(news) }
		case onTerminal:
			defer enterScreen(s.out)()
			show = func(w *watcher, _ []survey.Change) error { return draw(s.out, w.frame(rows)) }
		default:
			show = func(_ *watcher, news []survey.Change) error { return printLines(s.out, news) }
		}
		err := w.run(ctx, show)
		if ctx.Err() != nil {
			return nil // it was asked to end
		}
		return err
	}}
}

// A watcher looks at a lock again and again.
type watcher struct {
	client  *framework.Client
	path    string
	every   time.Duration
	lasting time.Duration // after the first look; 0: until ctx ends

	lock    *survey.Lock
	at      time.Time // of the last look
	version int32     // the directory's count of changes
	rate    float64   // acquisitions a second, smoothed
	losses  int       // holders that have left
	came    int
	trouble string          // why the last look failed
	recent  []survey.Change // the newest last
}

// run looks until ctx ends or the time is over. The first look must succeed; later ones may fail, as when the servers
// are away.
func (w *watcher) run(ctx context.Context, show func(*watcher, []survey.Change) error) error {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	var over <-chan time.Time
	for first := true; ; first = false {
		news, err := w.look(ctx, time.Now())
		if err != nil && first {
			return err
		}
		if first && w.lasting > 0 {
			over = time.After(w.lasting)
		}
		w.trouble = ""
		if err != nil {
			w.trouble = survey.Printable(err.Error())
		}
		if err := show(w, news); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-over:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// look reads what has changed.
func (w *watcher) look(ctx context.Context, at time.Time) ([]survey.Change, error) {
	if w.lock != nil {
		version, err := w.count(ctx)
		if err == nil {
			w.measure(version, at)
			if version == w.version && !w.asked() {
				return nil, nil
			}
			w.version = version
		}
	}
	now, err := survey.Read(ctx, w.client, w.path)
	switch {
	case errors.Is(err, survey.ErrNoLock) && w.lock != nil:
		now = &survey.Lock{Path: w.path, Kind: w.lock.Kind} // the servers removed an empty directory
	case err != nil:
		return nil, err
	}
	if w.lock == nil {
		w.version, err = w.count(ctx)
		w.at = at
		if err != nil {
			return nil, err
		}
	}
	news := survey.Compare(w.lock, now, at)
	for _, c := range news {
		switch c.What {
		case "left":
			w.losses++
		case "came":
			w.came++
		}
	}
	w.lock = now
	w.recent = append(w.recent, news...)
	w.recent = w.recent[max(len(w.recent)-100, 0):]
	return news, nil
}

// asked reports whether a holder's data may have changed: a request to leave does that, and no count of the directory
// tells.
func (w *watcher) asked() bool { return len(w.lock.Contenders) > 0 && len(w.lock.Contenders) <= 16 }

// count returns how many nodes were created and deleted in the directory that contenders are in.
func (w *watcher) count(ctx context.Context) (int32, error) {
	dir := w.path
	if w.lock != nil && strings.Contains(w.lock.Kind, "semaphore") {
		dir += "/leases"
	}
	stat, err := w.client.Exists(ctx, dir)
	if err == nil && stat == nil {
		err = zk.ErrNoNode
	}
	if err != nil {
		return 0, err
	}
	return stat.Cversion, nil
}

// measure updates the rate: an acquisition is a creation and a deletion.
func (w *watcher) measure(version int32, at time.Time) {
	passed := at.Sub(w.at).Seconds()
	if passed <= 0 {
		return
	}
	now := float64(max(version-w.version, 0)) / 2 / passed
	w.rate, w.at = 0.7*w.rate+0.3*now, at
	if now == 0 && w.rate < 0.05 {
		w.rate = 0
	}
}
