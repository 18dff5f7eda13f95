package watches

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

var tableSeeds = flag.Uint64("seeds", 2000, "how many random histories of the table are tried")

// A simpleServer keeps watches in the most obvious way, and answers and reports in the order of execution.
type simpleServer struct {
	nodes    map[string]int // version
	data     map[string]bool
	children map[string]bool
	trees    map[string]bool
	// whether the data at a path may not be read now; without an entry it was readable all the time
	unreadable map[string]bool
}

func newSimpleServer() *simpleServer {
	return &simpleServer{
		nodes: map[string]int{}, data: map[string]bool{}, children: map[string]bool{}, trees: map[string]bool{}, unreadable: map[string]bool{},
	}
}

func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

type simpleEvent struct {
	kind zk.EventType
	path string
}

// change creates, deletes or sets a node, and returns the events.
func (s *simpleServer) change(path string, create, remove bool) (events []simpleEvent) {
	_, there := s.nodes[path]
	switch {
	case create && !there:
		s.nodes[path] = 1
		events = s.fire(zk.EventNodeCreated, path, s.data)
	case remove && there:
		delete(s.nodes, path)
		both := map[string]bool{path: s.data[path] || s.children[path]}
		delete(s.data, path)
		delete(s.children, path)
		events = s.fire(zk.EventNodeDeleted, path, both)
	case !create && !remove && there:
		s.nodes[path]++
		return s.fire(zk.EventNodeDataChanged, path, s.data)
	default:
		return nil
	}
	if up := parentOf(path); s.children[up] {
		delete(s.children, up)
		events = append(events, simpleEvent{zk.EventNodeChildrenChanged, up})
	}
	return events
}

func (s *simpleServer) fire(kind zk.EventType, path string, watches map[string]bool) (events []simpleEvent) {
	fires := watches[path]
	delete(watches, path)
	for at := path; ; at = parentOf(at) {
		fires = fires || s.trees[at]
		if at == "/" {
			break
		}
	}
	if fires {
		return []simpleEvent{{kind, path}}
	}
	return nil
}

func (s *simpleServer) childrenOf(path string) (names []string) {
	for node, version := range s.nodes {
		if parentOf(node) == path {
			names = append(names, fmt.Sprint(node, "#", version > 0))
		}
	}
	return names
}

func (s *simpleServer) answer(r Request) Answer {
	version, there := s.nodes[r.Path]
	stat := &zk.Stat{Version: int32(version)}
	missing := Answer{Outcome: Missing, Err: errors.New("no node")}
	switch r.Op {
	case ReadData, ReadStat:
		if r.Op == ReadData && there && s.unreadable[r.Path] {
			return Answer{Outcome: Forbidden, Err: errors.New("no permission")}
		}
		if r.Watch && (there || r.Op == ReadStat) {
			s.data[r.Path] = true
		}
		if !there {
			return missing
		}
		if r.Op == ReadData {
			return Answer{Stat: stat, Data: fmt.Append(nil, version)}
		}
	case ReadChildren:
		if !there {
			return missing
		}
		s.children[r.Path] = true
		return Answer{Stat: stat, Children: s.childrenOf(r.Path)}
	case SetTree:
		s.trees[r.Path] = true
	case RemoveData:
		delete(s.data, r.Path)
	case RemoveChildren:
		delete(s.children, r.Path)
	case RemoveTree:
		delete(s.trees, r.Path)
	case RemoveAny:
		delete(s.trees, r.Path)
		delete(s.data, r.Path)
		delete(s.children, r.Path)
	}
	return Answer{Stat: stat}
}

// A subscriber of a history.
type subscriber struct {
	sub  Subscription
	how  Manner
	gone bool // has seen it
	woke int  // how often
}

// A treeEar follows a tree as a cache would: it reads all when the watch is set, and a node when it hears of it.
type treeEar struct {
	path    string
	server  *simpleServer
	known   map[string]int
	watches bool // between Watching and Lost
	refused bool
}

func (e *treeEar) read(path string) {
	delete(e.known, path)
	if version, ok := e.server.nodes[path]; ok && (path == e.path || strings.HasPrefix(path, e.path+"/")) {
		e.known[path] = version
	}
}

func (e *treeEar) Watching() {
	e.watches = true
	for _, path := range historyPaths {
		e.read(path)
	}
}
func (e *treeEar) Changed(_ zk.EventType, path string) { e.read(path) }
func (e *treeEar) Lost()                               { e.watches = false }
func (e *treeEar) Refused(error)                       { e.refused = true }

// An arrival is an answer or an event on its way to the client.
type arrival struct {
	arrive func()
	event  bool
}

// A flight is a request of a watch that was not answered yet.
type flight struct {
	node   *node
	number int
}

// A history is one random run of a table and a server, with what is under way between them, in order.
type history struct {
	t          *testing.T
	pick       func(n int) int
	table      *Table
	server     *simpleServer
	subs       []*subscriber
	ears       []*treeEar
	now        time.Time
	attached   bool
	toServer   []Request
	toClient   []arrival
	inFlight   map[flight]bool
	removal    string // the node that the session is deleting
	refuses    bool   // the server will refuse that
	steps      []string
	lostEvents bool
	treeless   bool // so that events can be lost
	readable   bool // no permission changes
}

var historyPaths = []string{"/a", "/a/b", "/a/b/c"}

func (h *history) note(format string, args ...any) {
	h.steps = append(h.steps, fmt.Sprintf(format, args...))
}

// take sends what the table asks for, and calls whom it wakes.
func (h *history) take() {
	requests := h.table.Requests()
	if !h.attached && len(requests) > 0 {
		h.t.Fatalf("requests %v without a connection", requests)
	}
	for _, r := range requests {
		h.note("    asks: op %d of %s", r.Op, r.Path)
		if r.Reads() {
			h.inFlight[flight{r.node, r.number}] = true
		}
	}
	h.toServer = append(h.toServer, requests...)
	for _, wake := range h.table.Wakes() {
		wake()
	}
	for _, ear := range h.ears {
		if ear.watches && !h.server.trees[ear.path] && len(h.toClient) == 0 {
			h.t.Fatalf("the observer of %s was not called when the server's watch went", ear.path)
		}
	}
	for key, w := range h.table.nodes {
		if w.pending() && !h.inFlight[flight{w, w.newest}] {
			h.t.Fatalf("%v waits for an answer that cannot come", key)
		}
	}
	h.findLeftWatches()
	for _, s := range h.subs {
		view := h.table.View(&s.sub)
		if s.gone && view.Status != Gone && s.how != Persistent {
			h.t.Fatalf("a subscription to %v sees %+v after it has seen it gone", s.sub.node.key, view)
		}
		s.gone = s.gone || view.Status == Gone
		if view.Current && !h.armed(s.sub.node) {
			h.t.Fatalf("%v is armed, but the server has no watch, and no event is on its way", s.sub.node.key)
		}
	}
}

// findLeftWatches fails if the server has a watch without a subscription while nothing is under way that takes it off.
func (h *history) findLeftWatches() {
	if len(h.toServer)+len(h.toClient) > 0 || h.removal != "" || h.table.HasRefused() {
		return
	}
	for children, set := range map[bool]map[string]bool{false: h.server.data, true: h.server.children} {
		for path := range set {
			key := Key{path, children}
			if h.table.covered(key) { // the end of the tree takes it off
				continue
			}
			if w := h.table.nodes[key]; w == nil || w.phase == deferred {
				h.t.Fatalf("the server has a watch on %s, children %t, without a subscription", path, children)
			}
		}
	}
}

// armed reports whether the server will report the next change of a node, or has.
func (h *history) armed(w *node) bool {
	set := h.server.data[w.key.Path] || h.server.trees[w.key.Path]
	if w.key.Children {
		set = h.server.children[w.key.Path]
	}
	return set || h.lostEvents || len(h.toClient) > 0
}

func (h *history) change(path string, create, remove bool) {
	for _, e := range h.server.change(path, create, remove) {
		if h.attached {
			h.toClient = append(h.toClient, arrival{event: true, arrive: func() {
				h.note("event %d of %s arrives", e.kind, e.path)
				h.table.Event(e.kind, e.path, h.now)
			}})
		}
	}
}

// serve has the server execute the oldest request.
func (h *history) serve(busy bool) {
	if len(h.toServer) == 0 {
		return
	}
	r := h.toServer[0]
	h.toServer = h.toServer[1:]
	a := Answer{Outcome: Busy, Err: errors.New("busy")}
	if !busy {
		a = h.server.answer(r)
	}
	h.note("server executes op %d of %s, busy %t: %d", r.Op, r.Path, busy, a.Outcome)
	h.toClient = append(h.toClient, arrival{arrive: func() {
		h.note("answer %d to op %d of %s arrives", a.Outcome, r.Op, r.Path)
		delete(h.inFlight, flight{r.node, r.number})
		h.table.Answered(r, a, h.now)
	}})
}

func (h *history) deliver() {
	if len(h.toClient) == 0 {
		return
	}
	next := h.toClient[0]
	h.toClient = h.toClient[1:]
	next.arrive()
	h.take()
}

// lose loses the next arrival if it is an event. Watches on trees are not read again, so none may be there.
func (h *history) lose() {
	if len(h.toClient) > 0 && h.toClient[0].event && len(h.ears) == 0 {
		h.note("an event is lost")
		h.toClient, h.lostEvents = h.toClient[1:], true
	}
}

func (h *history) detach() {
	h.attached, h.toServer, h.toClient = false, nil, nil
	clear(h.inFlight)
	h.server.data, h.server.children, h.server.trees = map[string]bool{}, map[string]bool{}, map[string]bool{}
	before := make([]Status, len(h.subs))
	for i, s := range h.subs {
		before[i], s.woke = h.table.View(&s.sub).Status, 0
	}
	h.table.Detached()
	h.take()
	for i, s := range h.subs {
		want := 0
		if s.how != Promptly && s.how != Deferred && h.table.View(&s.sub).Status != before[i] {
			want = 1
		}
		if s.woke != want {
			h.t.Fatalf("the lost connection wakes a subscription to %v, manner %d, of status %d: got %d times, want %d",
				s.sub.node.key, s.how, before[i], s.woke, want)
		}
	}
}

func (h *history) attach() {
	h.attached = true
	if h.removal != "" {
		h.sendRemoval()
	}
	if h.pick(2) == 0 { // otherwise the server is asked first
		h.table.SetTrees(h.now)
	}
	h.table.Attached(h.now, time.Second)
	h.take()
}

// remove deletes a node of the session. Each connection asks for it first, until there is an answer.
func (h *history) remove(path string, refused bool) {
	if h.removal != "" {
		return
	}
	h.removal, h.refuses = path, refused
	h.table.Removing(path)
	if h.attached {
		h.sendRemoval()
	}
}

// sendRemoval has the server execute the deletion at once: behind what was asked before, whose answers come first.
func (h *history) sendRemoval() {
	for len(h.toServer) > 0 {
		h.serve(false)
	}
	path, refused := h.removal, h.refuses
	if !refused {
		h.change(path, false, true)
	}
	h.toClient = append(h.toClient, arrival{arrive: func() {
		h.removal = ""
		h.note("removal of %s is answered, refused: %t", path, refused)
		h.table.Removed(path, refused, h.now)
	}})
}

func (h *history) subscribe(path string) {
	s := &subscriber{how: []Manner{Promptly, Persistent, Deferred}[h.pick(3)]}
	key := Key{Path: path, Children: h.pick(2) == 0}
	if key.Children && s.how == Persistent {
		s.how = Attentive
	}
	h.note("subscribe to %v, manner %d", key, s.how)
	h.subs = append(h.subs, s)
	h.table.Subscribe(&s.sub, key, func() { s.woke++ }, s.how, h.now)
}

func (h *history) unsubscribe(i int) {
	s := h.subs[i]
	h.note("unsubscribe %v", s.sub.node.key)
	h.subs = append(h.subs[:i:i], h.subs[i+1:]...)
	h.table.Unsubscribe(&s.sub)
}

func (h *history) unobserve(i int) {
	ear := h.ears[i]
	h.note("end of the tree at %s", ear.path)
	h.ears = append(h.ears[:i:i], h.ears[i+1:]...)
	h.table.UnobserveTree(ear.path, ear, h.now)
}

func (h *history) step() {
	path := historyPaths[h.pick(len(historyPaths))]
	what := h.pick(23)
	switch {
	case what < 4:
		h.note("change %s, %d", path, what)
		h.change(path, what < 2, what == 2)
	case what < 6:
		h.subscribe(path)
	case what == 6 && len(h.subs) > 0:
		h.unsubscribe(h.pick(len(h.subs)))
	case what == 7 && h.pick(3) == 0:
		if h.note("attached: %t", !h.attached); h.attached {
			h.detach()
		} else {
			h.attach()
		}
	case what == 8:
		h.note("remove %s", path)
		h.remove(path, h.pick(3) == 0)
	case what == 9 && !h.treeless:
		ear := &treeEar{path: path, server: h.server, known: map[string]int{}}
		h.note("tree at %s", path)
		h.ears = append(h.ears, ear)
		h.table.ObserveTree(path, ear, h.now)
	case what == 10 && len(h.ears) > 0:
		h.unobserve(h.pick(len(h.ears)))
	case what == 11 && len(h.subs) > 0:
		h.table.ReadAgain(&h.subs[h.pick(len(h.subs))].sub, h.now)
	case what == 12:
		h.now = h.now.Add(time.Second)
		h.table.ReadLate(h.now)
	case what == 13 && h.pick(2) == 0:
		h.lose()
	case what == 13:
		h.table.SetDeferred(h.now)
	case what == 14:
		h.table.AskAgain(h.now)
	case what == 15 && !h.readable:
		h.server.unreadable[path] = !h.server.unreadable[path]
		h.note("%s may not be read: %t", path, h.server.unreadable[path])
	case what == 16 && h.attached && h.removal == "" && h.pick(3) == 0:
		h.note("all is answered")
		h.settle()
	case what < 19:
		h.serve(h.pick(6) == 0)
	case what == 22 && h.attached:
		h.note("the server is known to take trees")
		h.table.SetTrees(h.now)
	default:
		h.deliver()
	}
	h.take()
}

// settle answers everything, and delivers everything.
func (h *history) settle() {
	if !h.attached {
		h.attach()
	}
	h.table.SetTrees(h.now)
	h.take()
	drain := func() {
		for n := 0; len(h.toServer)+len(h.toClient) > 0; n++ {
			if n > 100_000 {
				h.t.Fatal("the table asks for ever")
			}
			h.serve(false)
			h.deliver()
		}
	}
	for round := 0; ; round++ {
		if round > 1000 {
			h.t.Fatal("the table asks for ever")
		}
		drain()
		if !h.table.HasRefused() && !h.table.HasDeferred() && !h.lostEvents {
			return
		}
		if h.lostEvents { // what is believed is read again, and shows what was lost
			h.now = h.now.Add(longestBelief * time.Hour)
			h.table.ReadLate(h.now)
			h.take()
			drain()
			h.lostEvents = false
		}
		h.table.SetDeferred(h.now)
		h.table.AskAgain(h.now)
		h.take()
	}
}

// check compares what subscriptions know with what is.
func (h *history) check() {
	for _, s := range h.subs {
		view, key := h.table.View(&s.sub), s.sub.node.key
		version, there := h.server.nodes[key.Path]
		_, unread := h.server.unreadable[key.Path]
		unread = unread && !key.Children // no event says that a permission has changed
		switch {
		case view.Status == Gone && (!there || s.how != Persistent):
		case unread && s.how == Persistent && view.Status == Refused:
		case view.Status != Present || !there || !view.Current:
			h.t.Fatalf("%v: got %+v, want what is there: %t", key, view, there)
		case key.Children && len(view.Children) != len(h.server.childrenOf(key.Path)):
			h.t.Fatalf("%v: got %v, want %v", key, view.Children, h.server.childrenOf(key.Path))
		case unread && view.Data == nil && view.Stat.Version == int32(version):
		case !key.Children && (view.Stat.Version != int32(version) || string(view.Data) != fmt.Sprint(version)):
			h.t.Fatalf("%v: got version %d, data %q, want %d", key, view.Stat.Version, view.Data, version)
		}
	}
	for _, ear := range h.ears {
		want := map[string]int{}
		for path, version := range h.server.nodes {
			if path == ear.path || strings.HasPrefix(path, ear.path+"/") {
				want[path] = version
			}
		}
		if got := fmt.Sprint(ear.known); got != fmt.Sprint(want) || ear.refused {
			h.t.Fatalf("tree at %s: got %v, refused %t, want %v", ear.path, got, ear.refused, want)
		}
	}
}

func runHistory(t *testing.T, pick func(n int) int, more func() bool) {
	h := &history{t: t, pick: pick, table: New(), server: newSimpleServer(), now: start, inFlight: map[flight]bool{}}
	defer func() {
		if t.Failed() {
			t.Logf("the history:\n%s", strings.Join(h.steps, "\n"))
		}
	}()
	h.treeless, h.readable = pick(2) == 0, pick(2) == 0
	h.attach()
	for more() {
		h.step()
	}
	h.settle()
	h.check()
	// Not by chance: the next changes must be heard of as well.
	for _, path := range historyPaths {
		h.change(path, true, false)
		h.change(path, false, false)
	}
	h.settle()
	h.check()
	for len(h.subs) > 0 {
		h.unsubscribe(0)
		h.take()
	}
	for len(h.ears) > 0 {
		h.unobserve(0)
		h.take()
	}
	h.settle()
	if left := len(h.server.trees) + len(h.server.data) + len(h.server.children); left > 0 || !h.table.IsEmpty() {
		t.Fatalf("got %v, %v, %v at the server without a subscription, and an empty table: %t",
			h.server.data, h.server.children, h.server.trees, h.table.IsEmpty())
	}
}

func TestRandomHistoriesKeepTheInvariants(t *testing.T) {
	for seed := range *tableSeeds {
		random := rand.New(rand.NewPCG(seed, 0))
		n := 0
		runHistory(t, random.IntN, func() bool { n++; return n < 200 })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("the quick brown fox jumps over the lazy dog"))
	f.Fuzz(func(t *testing.T, choices []byte) {
		choices = choices[:min(len(choices), 2000)]
		pick := func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			choice := int(choices[0])
			choices = choices[1:]
			return choice % n
		}
		runHistory(t, pick, func() bool { return len(choices) > 0 })
	})
}
