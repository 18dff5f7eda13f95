package model

import "slices"

type op int8

const (
	create       op = iota
	createReader    // while the writer's node exists
	remove
	list
	search // a listing behind a fence, for tries whose answers were lost
	look   // the same, for orphans
	fence
	read // a node or a directory is read, with a watch
	readNames
	unwatch
	deleted // an event: a node is gone, or the directory if there is no name
	changed // an event: the names in the directory of leases are others
	limited // the limit, as it is from here on
	unmade  // a directory is removed
	lost    // without S0: the newest creation is undone
)

var opNames = map[op]string{
	create: "creation", createReader: "creation of a reader", remove: "removal", list: "listing", search: "search", look: "look",
	fence: "fence", read: "read", readNames: "read of names", unwatch: "end of a watch", deleted: "deletion", changed: "change",
	limited: "limit",
}

// A request is on its way from a client to its server.
type request struct {
	op   op
	try  try  // who asks
	name name // what it is about: the guard of createReader
	dir  int8
}

// A message is an answer or an event, on its way to a client.
type message struct {
	op    op
	try   try
	name  name
	ok    bool
	dir   int8
	names []name
	tree  int8 // the directory's id, for its czxid
	count int32
	limit int8
	seen  int8 // how many of the pending transactions its server had executed
}

func (m message) isEvent() bool { return m.op == deleted || m.op == changed }

// A txn is a transaction, with what its server answers when it applies it.
type txn struct {
	op     op
	names  []name
	tree   int8
	dir    int8
	limit  int8
	origin int8 // the client that hears of it; -1: none
	answer message
}

// executable reports whether a server may execute a client's next request: it answers a read after the writes before.
func (w *world) executable(i int8) bool {
	c := &w.clients[i]
	if c.server < 0 || len(c.out) == 0 {
		return false
	}
	switch c.out[0].op {
	case list, search, look, read, readNames, unwatch:
		return c.server == 0 || !slices.ContainsFunc(w.pending, func(t txn) bool { return t.origin == i })
	default:
		return true
	}
}

// execute has a client's server execute its next request. It miscounts by so many creations.
func (w *world) execute(i int8, miscount int32) {
	c := &w.clients[i]
	r := c.out[0]
	c.out = c.out[1:]
	tree := &w.servers[c.server].trees[r.dir]
	m := message{op: r.op, try: r.try, name: r.name, dir: r.dir}
	switch r.op {
	case list, search, look, readNames:
		m.names, m.tree, m.count, m.limit = slices.Clone(tree.names), tree.id, tree.created+miscount, w.servers[c.server].limit
		if r.op == readNames {
			c.arm(leaseName)
		}
		w.send(i, m)
	case read:
		m.tree = tree.id
		m.ok = r.name == queueName && tree.id != 0 || slices.Contains(tree.names, r.name)
		if m.ok {
			c.arm(r.name)
		}
		w.send(i, m)
	case unwatch:
		c.armed = without(c.armed, r.name)
	default:
		w.write(r, i)
	}
}

func (c *client) arm(n name) {
	if !slices.Contains(c.armed, n) {
		c.armed = append(c.armed, n)
	}
}

// write has the leader execute a request. origin is -1 if its connection is gone.
func (w *world) write(r request, origin int8) {
	tree := &w.servers[0].trees[r.dir]
	t := txn{op: r.op, dir: r.dir, origin: origin, answer: message{op: r.op, try: r.try, name: r.name, dir: r.dir}}
	exists := func(n name) bool { return slices.Contains(tree.names, n) }
	switch r.op {
	case create:
		t.tree = tree.id
		count := tree.created
		if tree.id == 0 { // the client makes the directory
			w.dirs[r.dir]++
			t.tree, count = w.dirs[r.dir], w.Start
		}
		if w.off(S2) {
			count = w.Start + int32(len(tree.names))
		}
		t.answer.name = w.nameOf(r.try, count)
		t.answer.ok = true
		t.names = []name{t.answer.name}
	case createReader:
		t.tree = tree.id
		if t.answer.ok = exists(r.name); t.answer.ok {
			t.op = create
			t.answer.name = w.readerName(r.try, r.name)
			t.names = []name{t.answer.name}
		}
	case remove:
		if exists(r.name) {
			t.names = []name{r.name}
		}
	}
	w.commit(t)
}

// commit has the leader apply a transaction, and the follower later.
func (w *world) commit(t txn) {
	if len(w.servers) > 1 {
		w.pending = append(w.pending, t)
	}
	w.apply(0, t)
	w.see()
}

// follow has the follower apply its next transaction.
func (w *world) follow() {
	t := w.pending[0]
	w.pending = w.pending[1:]
	for i := range w.clients {
		c := &w.clients[i]
		c.seen = max(0, c.seen-1)
		for j := range c.in {
			c.in[j].seen = max(0, c.in[j].seen-1)
		}
	}
	w.apply(1, t)
}

func (w *world) apply(server int8, t txn) {
	tree := &w.servers[server].trees[t.dir]
	switch t.op {
	case create:
		if len(t.names) == 0 {
			break
		}
		if tree.id != t.tree {
			tree.id, tree.created = t.tree, w.Start
		}
		tree.created++
		tree.names = append(tree.names, t.names...)
		w.fireNames(server, t.dir)
	case remove:
		for _, n := range t.names {
			if slices.Contains(tree.names, n) {
				tree.names = without(tree.names, n)
				w.fire(server, n, message{op: deleted, name: n})
				w.fireNames(server, t.dir)
			}
		}
	case unmade:
		*tree = noTree
		if !w.off(S6) {
			w.fire(server, dirName(t.dir), message{op: deleted, name: dirName(t.dir)})
		}
	case lost:
		tree.names = without(tree.names, t.names[0])
	case limited:
		w.setLimit(server, t.limit)
	}
	if t.origin >= 0 && w.clients[t.origin].server == server && t.answer.op != fence {
		w.send(t.origin, t.answer)
	}
}

// setLimit changes the semaphore's limit, of which every client of the server hears.
func (w *world) setLimit(server, limit int8) {
	w.servers[server].limit = limit
	for i := range w.clients {
		if w.clients[i].server == server {
			w.send(int8(i), message{op: limited, limit: limit})
		}
	}
}

// fire sends an event to the clients of a server that watch a node, the queue's directory, or the names of the leases.
func (w *world) fire(server int8, n name, event message) {
	for i := range w.clients {
		c := &w.clients[i]
		if c.server == server && slices.Contains(c.armed, n) {
			c.armed = without(c.armed, n)
			w.send(int8(i), event)
		}
	}
}

func (w *world) send(i int8, m message) {
	c := &w.clients[i]
	if c.server == 0 && !m.isEvent() {
		m.seen = int8(len(w.pending))
	}
	c.in = append(c.in, m)
}

var noTree tree

func without[T comparable](all []T, one T) []T {
	return slices.DeleteFunc(slices.Clone(all), func(x T) bool { return x == one })
}

func (w *world) fireNames(server, dir int8) {
	if dir == leaseDir {
		w.fire(server, leaseName, message{op: changed, name: leaseName})
	}
}
