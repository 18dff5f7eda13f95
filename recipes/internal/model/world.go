package model

import (
	"slices"

	"github.com/gocurator/curator/recipes/internal/queue"
)

// A name is the index of a node's name in the table. Zero is none.
type name uint16

// A world is a state of the model. Functions that change one are given a copy.
type world struct {
	*table
	servers []server // the leader, and perhaps a follower
	pending []txn    // what the follower has not applied yet
	clients []client
	all     []contender
	late    []request // executed at any time; cut off from any connection
	faults  Faults    // that are left
	dirs    [2]int8   // how often each directory was created

	// What no server and no client knows: these decide what is wrong.
	first  []name // nodes that were the first in their queue at some moment
	byHand []name // nodes that were removed by hand
	wrong  string // a grant out of turn
}

// A server is what one server has.
type server struct {
	trees [2]tree
	limit int8
}

// A tree is a directory: the queue's, or the leases'.
type tree struct {
	id      int8 // zero: there is none
	created int32
	names   []name // in the order of their creation
}

const (
	queueDir = 0
	leaseDir = 1

	// The watches on directories have names, too.
	queueName name = 0
	leaseName name = 1<<16 - 1
)

func dirName(dir int8) name { return map[int8]name{queueDir: queueName, leaseDir: leaseName}[dir] }

// A client is one session after the other, what they know, and the newest one's connection.
type client struct {
	server  int8 // -1: there is no connection
	expired bool // the servers have ended the session, and the client has not heard of it
	valid   bool // the client's lease lasts
	seen    int8 // how many of the transactions that the follower lacks the client has heard of
	out     []request
	in      []message
	armed   []name // the server's watches of this connection

	view     queue.View
	unlisted queue.Unlisted
	limit    int8
	watches  []watch
	removals []name
	flying   []try // creates on their way that no contender waits for
	orphans  []orphan
	leases   []name // the newest listing that came with the watch on the leases
}

// A watch is one of a session's, shared by all its contenders.
type watch struct {
	name name
	as   watchState
	tree int8 // a watch on a directory has seen this one
}

type watchState int8

const (
	none watchState = iota // a contender does not watch
	unset
	asked
	set
	gone // a contender has heard that the node is gone
)

// A try is one create.
type try struct{ by, number int8 }

type orphan struct {
	try
	asked bool
}

type phase int8

const (
	idle phase = iota
	creating
	deciding // without rule 6: has a listing, and did not look at it yet
	entering // created, and the listing that comes with it is on its way
	searching
	listing
	waiting
	admitted
	passed  // a gate, whose lease is on its way
	checked // without rule 1: the session was valid
	holding
	done
)

// A contender is one acquire after the other.
type contender struct {
	phase phase
	left  int8 // how many acquires are to come
	try   int8 // the newest
	list  bool // the newest was sent with a listing
	me    name
	self  watchState
	ahead name // the node that is watched
	heard bool // it is gone
	pred  name
	lost  []int8 // tries whose answers were lost
	found []name // without rule 6: a listing that was not looked at yet
}

func (w *world) clone() *world {
	next := *w
	next.servers = slices.Clone(w.servers)
	for i := range next.servers {
		for d := range next.servers[i].trees {
			next.servers[i].trees[d].names = slices.Clone(next.servers[i].trees[d].names)
		}
	}
	next.pending = slices.Clone(w.pending)
	next.late = slices.Clone(w.late)
	next.first = slices.Clone(w.first)
	next.byHand = slices.Clone(w.byHand)
	next.clients = slices.Clone(w.clients)
	for i := range next.clients {
		c := &next.clients[i]
		c.out, c.in, c.armed = slices.Clone(c.out), slices.Clone(c.in), slices.Clone(c.armed)
		c.view.Nodes = slices.Clone(c.view.Nodes)
		c.watches, c.removals = slices.Clone(c.watches), slices.Clone(c.removals)
		c.flying, c.orphans = slices.Clone(c.flying), slices.Clone(c.orphans)
	}
	next.all = slices.Clone(w.all)
	for i := range next.all {
		next.all[i].lost = slices.Clone(next.all[i].lost)
	}
	return &next
}
