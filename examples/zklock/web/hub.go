package web

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// A Row is a lock in the overview.
type Row struct {
	Path  string    `json:"path"`
	Kind  string    `json:"kind"`
	Nodes int       `json:"nodes"` // contenders: who holds and who waits
	Rate  float64   `json:"rate"`  // acquisitions a second
	Past  []float64 `json:"past,omitempty"`

	version int32
	known   bool
	at      time.Time
}

// sparkPoints is how many rates the overview remembers.
const sparkPoints = 60

// parallel is how many reads are under way at a time.
const parallel = 32

// rescan is after how many looks at known locks the tree is searched for new ones.
const rescan = 10

// A hub looks at the servers for all pages that are open.
type hub struct {
	options Options
	cancel  context.CancelFunc
	done    chan struct{}
	wake    chan struct{} // a page was opened

	mu     sync.Mutex
	rows   map[string]*Row
	pages  map[*subscriber]bool
	seen   map[string]*opened // locks whose details are open
	closed bool
	reads  int           // of the last look
	took   time.Duration // likewise
	failed string        // why the last look failed
	number int           // of looks
}

// opened is a lock whose details a page shows.
type opened struct {
	lock   *survey.Lock
	recent []survey.Change
}

// A subscriber is a page that is open. A page that is too slow loses messages, and gets a snapshot when it has caught
// up.
type subscriber struct {
	lock     string
	messages chan message
	behind   bool
}

// A message is an event of the stream.
type message struct {
	name string
	data []byte
}

func newHub(options Options) *hub {
	ctx, cancel := context.WithCancel(context.Background()) // until Close
	h := &hub{
		options: options, cancel: cancel, done: make(chan struct{}), wake: make(chan struct{}, 1),
		rows: map[string]*Row{}, pages: map[*subscriber]bool{}, seen: map[string]*opened{},
	}
	go h.run(ctx)
	return h
}

func (h *hub) close() {
	h.cancel()
	<-h.done
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for p := range h.pages {
		close(p.messages)
	}
	clear(h.pages)
}

// run looks as often as the options say, as long as a page is open.
func (h *hub) run(ctx context.Context) {
	defer close(h.done)
	tick := time.NewTicker(h.options.Every)
	defer tick.Stop()
	for {
		if h.watched() {
			h.look(ctx)
		}
		select {
		case <-tick.C:
		case <-h.wake:
		case <-ctx.Done():
			return
		}
	}
}

func (h *hub) watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.pages) > 0
}

// subscribe opens a page. It is nil after close.
func (h *hub) subscribe(lock string) *subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	p := &subscriber{lock: lock, messages: make(chan message, 16), behind: true} // begins with a snapshot
	h.pages[p] = true
	if lock != "" && h.seen[lock] == nil {
		h.seen[lock] = &opened{}
	}
	h.send(p, nil)
	select {
	case h.wake <- struct{}{}:
	default:
	}
	return p
}

func (h *hub) unsubscribe(p *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pages, p)
	for lock := range h.seen {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(h.pages)), func(other *subscriber) bool { return other.lock == lock }) {
			delete(h.seen, lock)
		}
	}
}

// send tells a page what has changed; a page that is behind gets everything. mu is held.
func (h *hub) send(p *subscriber, changed []Row) {
	status := map[string]any{
		"reads": h.reads, "ms": float64(h.took.Microseconds()) / 1000, "failed": h.failed, "revoke": h.options.AllowRevoke,
	}
	if p.behind {
		rows := make([]Row, 0, len(h.rows))
		for _, row := range h.rows {
			rows = append(rows, *row)
		}
		slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Path, b.Path) })
		p.behind = false
		status["rows"] = rows
		h.post(p, message{"snapshot", encode(status)})
		return
	}
	status["rows"] = changed
	h.post(p, message{"delta", encode(status)})
}

// post never blocks: a page that does not read is sent a snapshot later. mu is held.
func (h *hub) post(p *subscriber, m message) {
	select {
	case p.messages <- m:
	default:
		p.behind = true
	}
}

func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		return []byte("null") // all fields are plain
	}
	return text
}
