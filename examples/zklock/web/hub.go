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
	gone   []string // locks that the search of this look has not found any more
	pages  map[*subscriber]bool
	seen   map[string]*opened // locks whose details are open
	closed bool
	number int // counts looks
	status status
}

// A status is what a page hears of the looks, with each message and between them. Times are of this machine's clock, in
// milliseconds.
type status struct {
	Now     int64   `json:"now"`
	Fresh   int64   `json:"fresh"`   // when the last look that succeeded began; 0 before the first
	Timeout int64   `json:"timeout"` // the session timeout: after it, what is shown says nothing of who holds
	Failed  string  `json:"failed,omitempty"`
	Reads   int     `json:"reads"` // reads that the last look made
	MS      float64 `json:"ms"`    // how long it took
	Revoke  bool    `json:"revoke"`
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

// heartbeat is what a page hears between looks: a look that waits for servers ends late.
func (h *hub) heartbeat() message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return message{"status", encode(h.present())}
}

// present is the status now. mu is held.
func (h *hub) present() status {
	s := h.status
	s.Now, s.Revoke = time.Now().UnixMilli(), h.options.AllowRevoke
	if s.Failed == "" && !h.options.Client.State().IsConnected() {
		s.Failed = "no server answers" + h.named()
	}
	return s
}

// named names the servers, if they are known.
func (h *hub) named() string {
	if h.options.Servers == "" {
		return ""
	}
	return " of " + h.options.Servers
}

// An update is what the overview of a page has to change.
type update struct {
	status
	Rows []Row    `json:"rows"` // none for the page of a lock
	Gone []string `json:"gone,omitempty"`
}

// send sends a page what has changed; a page that is behind gets everything. mu is held.
func (h *hub) send(p *subscriber, changed []Row) {
	u := update{status: h.present()}
	if !p.behind {
		if p.lock == "" {
			u.Rows, u.Gone = changed, h.gone
		}
		h.post(p, message{"delta", encode(u)})
		return
	}
	if p.lock == "" {
		u.Rows = make([]Row, 0, len(h.rows))
		for _, row := range h.rows {
			u.Rows = append(u.Rows, *row)
		}
		slices.SortFunc(u.Rows, func(a, b Row) int { return cmp.Compare(a.Path, b.Path) })
	}
	p.behind = false
	h.post(p, message{"snapshot", encode(u)})
	if o := h.seen[p.lock]; o != nil && o.text != nil {
		h.post(p, message{"lock", o.text})
	}
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

// hidden replaces what a node contains, if that is not to be shown.
func (h *hub) hidden(who string) string {
	if h.options.HideData && who != "" {
		return "(hidden)"
	}
	return who
}

// plain is an error without what could move a cursor.
func plain(err error) string { return survey.Printable(err.Error()) }
