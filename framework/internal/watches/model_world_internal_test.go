package watches

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// A message is on its way: a request and later its answer, the session's own deletion and later its answer, an event.
type message struct {
	kind    messageKind
	request Request
	answer  Answer
	event   simpleEvent // a deletion has the path alone
	refused bool        // the deletion
	zxid    int64       // the newest at an answer
	sure    bool        // an event of setWatches itself, which comes even of a node that may not be read
}

type messageKind byte

const (
	request messageKind = iota
	deletion
	event
)

// A subscriber is a subscription of a world.
type subscriber struct {
	sub   Subscription
	how   Manner
	gone  bool // has seen it
	woke  int  // how often, in the newest step
	stale bool // the view is another than at the newest wake
}

// A world is a table, a server, and what is on its way between them.
type world struct {
	scene
	table    *Table
	server   *simpleServer
	subs     []*subscriber // one for each wish; nil: not made
	ears     []*treeEar    // likewise, for each tree
	toServer []message
	toClient []message
	attached bool
	removal  string // the path that the session is deleting
	lost     int    // 1: an event was lost; 2: and since then all that is believed was read again
	denied   bool   // a read was
	seen     int64  // the zxid of the newest answer
	late     int    // how often ReadLate was called
	wrong    error
}

func newWorld(s scene) *world {
	w := &world{scene: s, table: New(), server: newSimpleServer()}
	w.subs, w.ears = make([]*subscriber, len(s.wishes)), make([]*treeEar, len(s.trees))
	w.server.nodes["/a"], w.server.mzxid["/a"], w.server.zxid, w.seen, w.server.old = 1, 1, 1, 1, s.old
	w.attached = true
	w.table.Attached(w.now(), time.Second)
	return w
}

// now is late enough for ReadLate to read all that is believed.
func (w *world) now() time.Time { return start.Add(time.Duration(w.late) * longestBelief * time.Hour) }

// isQuiet reports whether nothing is left to do before each subscription knows what is there.
func (w *world) isQuiet() bool {
	return w.attached && len(w.toServer)+len(w.toClient)+len(w.removal) == 0 && w.lost == 0 &&
		!w.table.HasRefused() && !w.table.HasDeferred() && (len(w.trees) == 0 || w.table.takesTrees)
}

// take sends what the table asks for, and calls whom it wakes.
func (w *world) take(o order) {
	requests := slices.Clone(w.table.Requests())
	reads := 0
	for o != asMade && reads < len(requests) && requests[reads].Reads() {
		reads++
	}
	slices.SortFunc(requests[:reads], func(a, b Request) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Op, b.Op))
	})
	if o == reversed {
		slices.Reverse(requests[:reads])
	}
	for _, r := range requests {
		w.toServer = append(w.toServer, message{request: r})
	}
	for _, wake := range w.table.Wakes() {
		wake()
	}
}

// A copier copies what a table points to. A node has one copy.
type copier struct {
	nodes map[*node]*node
	trees map[*tree]*tree
}

func (c copier) node(n *node) *node {
	if n != nil && c.nodes[n] == nil {
		copied := *n
		copied.subscribers = map[*Subscription]struct{}{}
		c.nodes[n] = &copied
	}
	return c.nodes[n]
}

// request copies a request. That of a tree that has gone keeps the old one, which equals none.
func (c copier) request(r Request) Request {
	r.node, r.tree = c.node(r.node), cmp.Or(c.trees[r.tree], r.tree)
	return r
}

func (c copier) messages(messages []message) []message {
	messages = slices.Clone(messages)
	for i := range messages {
		messages[i].request = c.request(messages[i].request)
	}
	return messages
}

func (w *world) clone() *world {
	next, table, server := *w, *w.table, *w.server
	next.table, next.server, next.subs, next.ears = &table, &server, slices.Clone(w.subs), slices.Clone(w.ears)
	for _, of := range []*map[string]bool{&server.data, &server.children, &server.trees, &server.unreadable, &table.leaving} {
		*of = maps.Clone(*of)
	}
	server.nodes, server.mzxid = maps.Clone(server.nodes), maps.Clone(server.mzxid)
	c := copier{map[*node]*node{}, map[*tree]*tree{}}
	table.nodes, table.trees = map[Key]*node{}, map[string]*tree{}
	for key, n := range w.table.nodes {
		table.nodes[key] = c.node(n)
	}
	for path, old := range w.table.trees {
		copied := *old
		copied.observers = map[TreeObserver]bool{}
		table.trees[path], c.trees[old] = &copied, &copied
	}
	for i, old := range w.ears {
		if old != nil {
			ear := *old
			ear.server, ear.known = &server, maps.Clone(old.known)
			next.ears[i] = &ear
			if tree := w.table.trees[ear.path]; tree != nil {
				table.trees[ear.path].observers[&ear] = tree.observers[old]
			}
		}
	}
	for i, old := range w.subs {
		if old != nil {
			sub := *old
			sub.woke = 0
			sub.sub.node, sub.sub.wake = c.node(old.sub.node), func() { sub.woke++ }
			sub.sub.node.subscribers[&sub.sub] = struct{}{}
			next.subs[i] = &sub
		}
	}
	table.deferred, table.refused = slices.Clone(table.deferred), slices.Clone(table.refused)
	for i, n := range table.deferred {
		table.deferred[i] = c.node(n)
	}
	for i, r := range table.refused {
		table.refused[i] = c.request(r)
	}
	next.toServer, next.toClient = c.messages(w.toServer), c.messages(w.toClient)
	return &next
}

// appendKey appends what identifies a state. Of a request it matters whether its answer still counts.
func (w *world) appendKey(key []byte) []byte {
	t, s := w.table, w.server
	key = append(key, bits(w.attached, t.takesTrees, w.denied, w.wrong != nil), byte(w.lost),
		byte(w.calls), byte(w.changes), byte(w.faults), byte(len(w.removal)))
	for _, path := range modelPaths {
		unreadable, ever := s.unreadable[path]
		key = append(key, byte(s.nodes[path]), bits(s.data[path], s.children[path], s.trees[path], unreadable, ever, t.leaving[path]))
		for _, children := range []bool{false, true} {
			if n := t.nodes[Key{path, children}]; n != nil {
				key = appendView(append(key, byte(n.phase), bits(n.byExists, n.unreadable != nil, n.watched)), n.view)
			}
			key = append(key, '.')
		}
		if tree := t.trees[path]; tree != nil {
			key = append(key, bits(tree.set, tree.leftData))
		}
	}
	for _, sub := range w.subs {
		if key = append(key, ','); sub != nil {
			key = append(key, bits(sub.gone, sub.sub.gone, sub.stale))
		}
	}
	for _, ear := range w.ears {
		if key = append(key, ','); ear != nil {
			key = append(key, bits(ear.watches, ear.refused), byte(ear.known["/a"]), byte(ear.known["/a/b"]))
		}
	}
	for _, n := range t.deferred {
		key = append(key, byte(len(n.key.Path)), bits(n.key.Children, t.nodes[n.key] == n && n.phase == deferred))
	}
	for _, r := range t.refused {
		key = w.appendRequest(append(key, 'r'), r)
	}
	if w.knowsAny() {
		key = w.appendZxids(key)
	}
	for i, messages := range [][]message{w.toServer, w.toClient} {
		for _, m := range messages {
			key = append(key, byte('A'+i), byte(m.kind), byte(m.event.kind), byte(len(m.event.path)), bits(m.refused, m.sure))
			key = append(w.appendRequest(key, m.request), byte(m.answer.Outcome))
			key = appendView(key, View{Stat: m.answer.Stat, Data: m.answer.Data, Children: m.answer.Children})
		}
	}
	return key
}

func (w *world) knowsAny() bool {
	return slices.ContainsFunc(w.wishes, func(wish wish) bool { return wish.knows != nothing })
}

// appendZxids appends what the zxids say: which of them are from before others.
func (w *world) appendZxids(key []byte) []byte {
	age := func(zxid int64) { key = append(key, byte(w.server.zxid-zxid)) }
	key = append(key, bits(w.table.readsAll, w.table.refusesSets))
	age(w.seen)
	for _, path := range modelPaths {
		age(w.server.mzxid[path])
		if n := w.table.nodes[Key{path, false}]; n != nil {
			key = append(key, bits(n.deleted, n.unread()))
			age(n.asOf)
		}
	}
	for _, sub := range w.subs {
		if sub != nil {
			age(sub.sub.knows)
		}
	}
	for _, m := range slices.Concat(w.toServer, w.toClient) {
		age(m.zxid)
		age(m.request.Since)
	}
	return key
}

func appendView(key []byte, v View) []byte {
	version := byte(0xff)
	if v.Stat != nil {
		version = byte(v.Stat.Version)
	}
	return append(key, byte(v.Status), version, byte(len(v.Children)), bits(v.Data != nil))
}

func (w *world) appendRequest(key []byte, r Request) []byte {
	present := r.node != nil && w.table.nodes[r.node.key] == r.node
	return append(key, byte(r.Op), byte(len(r.Path)), bits(r.Watch, r.again, present, present && r.number == r.node.newest,
		r.tree != nil && w.table.trees[r.Path] == r.tree))
}

func bits(flags ...bool) (b byte) {
	for i, flag := range flags {
		if flag {
			b |= 1 << i
		}
	}
	return b
}
