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
columns, and q or Ctrl-C ends it; elsewhere it prints a line for each event, and
Ctrl-C ends it.

It looks once in a second, with one read if nothing has changed: what comes and
goes in between shows in the rate alone. The rate is that of creations and
deletions in the lock's directory, as the servers count them. That a holder has
left does not show whether it released the lock or lost it: its own log does. A
contender that waited at one look and is gone at the next may have been let in.

When the servers do not answer, it says how old what it shows is: at once, and
again, on a terminal in red, when that is older than the session timeout. Who
holds by then is not known. It goes on when they answer again.

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
		w := &watcher{client: s.client, servers: s.servers.Servers(), path: s.paths[0], every: *every, lasting: *lasting}
		rows, onTerminal := terminalRows(s.out)
		var show func(*watcher, []survey.Change) error
		switch {
		case s.json:
			show = func(_ *watcher, news []survey.Change) error { return s.printEach(news) }
		case onTerminal:
			defer enterScreen(s.out)()
			var stop context.CancelFunc
			ctx, stop = context.WithCancel(ctx)
			defer stop()
			defer onKey('q', stop)()
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

// A watcher looks at a lock again and again. A cache would read each node that comes and goes, thousands in a second of
// a busy lock, and would not know the rate, which is a count of the directory. A look that waits for the servers is
// under way on a goroutine of its own, which reads what the last one has left; all else happens on one goroutine.
type watcher struct {
	client  *framework.Client
	servers string // the connect string
	path    string
	every   time.Duration
	lasting time.Duration // after the first look; 0: until ctx ends

	lock    *survey.Lock
	at      time.Time     // when the last look that succeeded was made: what is shown is that old
	now     time.Time     // when the frame is drawn
	timeout time.Duration // the session timeout: after it, who holds is not known
	version int32         // the directory's count of changes
	rate    float64       // acquisitions a second, smoothed
	losses  int           // holders that have left
	came    int
	trouble string          // why the last look failed; empty if none has
	shown   outage          // what was said of this outage
	recent  []survey.Change // the newest last
}

// run looks until ctx ends or the time is over. The first look must succeed; later ones may fail, as when the servers
// are away.
func (w *watcher) run(ctx context.Context, show func(*watcher, []survey.Change) error) error {
	first := w.look(ctx, time.Now())
	if first.err != nil {
		return first.err
	}
	session, err := w.client.Session(ctx)
	if err != nil {
		return err
	}
	w.timeout = session.Timeout()
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	var over <-chan time.Time
	if w.lasting > 0 {
		over = time.After(w.lasting)
	}
	ctx, stop := context.WithCancel(ctx)
	looks := make(chan sight, 1)
	looking := false
	defer func() {
		stop()
		if looking {
			<-looks
		}
	}()
	for news := w.take(first); ; {
		w.now = time.Now()
		news = append(news, w.outages()...)
		if err := show(w, news); err != nil {
			return err
		}
		news = nil
		select {
		case <-tick.C:
			if !looking {
				looking = true
				go func() { looks <- w.look(ctx, time.Now()) }()
			}
		case s := <-looks:
			looking = false
			news = w.take(s)
		case <-over:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// A sight is what a look has found.
type sight struct {
	at      time.Time
	version int32
	lock    *survey.Lock // nil: nothing has changed
	err     error
}

// look reads what has changed. It changes nothing of the watcher.
func (w *watcher) look(ctx context.Context, at time.Time) (s sight) {
	s = sight{at: at, version: w.version}
	if w.lock != nil {
		version, err := w.count(ctx)
		if err == nil && version == w.version && !w.asked() {
			return s
		}
		if err == nil {
			s.version = version
		}
	}
	s.lock, s.err = survey.Read(ctx, w.client, w.path)
	if errors.Is(s.err, survey.ErrNoLock) && w.lock != nil {
		s.lock, s.err = &survey.Lock{Path: w.path, Kind: w.lock.Kind}, nil // the servers removed an empty directory
		return s
	}
	if s.err == nil && w.lock == nil {
		s.version, s.err = countIn(ctx, w.client, s.lock)
	}
	return s
}

// take notes a sight, and returns what has happened.
func (w *watcher) take(s sight) []survey.Change {
	if s.err != nil {
		w.trouble = survey.Printable(s.err.Error())
		return nil
	}
	w.trouble = ""
	if w.lock != nil {
		w.measure(s.version, s.at)
	}
	w.version, w.at = s.version, s.at
	if s.lock == nil {
		return nil
	}
	news := survey.Compare(w.lock, s.lock, s.at)
	for _, c := range news {
		switch c.What {
		case "left":
			w.losses++
		case "came":
			w.came++
		}
	}
	w.lock = s.lock
	w.remember(news)
	return news
}

func (w *watcher) remember(news []survey.Change) {
	w.recent = append(w.recent, news...)
	w.recent = w.recent[max(len(w.recent)-100, 0):]
}

// asked reports whether a holder's data may have changed: a request to leave does that, and no counter of the directory
// shows it.
func (w *watcher) asked() bool { return len(w.lock.Contenders) > 0 && len(w.lock.Contenders) <= 16 }

func (w *watcher) count(ctx context.Context) (int32, error) { return countIn(ctx, w.client, w.lock) }

// countIn returns how many nodes were created and deleted in the directory that a lock's contenders are in.
func countIn(ctx context.Context, client *framework.Client, lock *survey.Lock) (int32, error) {
	dir := lock.Path
	if strings.Contains(lock.Kind, "semaphore") {
		dir += "/leases"
	}
	stat, err := client.Exists(ctx, dir)
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
	w.rate = 0.7*w.rate + 0.3*now
	if now == 0 && w.rate < 0.05 {
		w.rate = 0
	}
}
