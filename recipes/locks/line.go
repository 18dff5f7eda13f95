package locks

import (
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// A line is what the contenders of one session in one queue know together of who stands in it. It may have nodes that have gone
// already, but it lacks none before any contender that it has: numbers grow, and the only node that ever comes before others is
// a writer's that becomes a reader, for which see turn.
//
// It is told what arrives on the connection, in that order. Once a few nodes have come one right after the other, all of them
// ours, it also watches the directory: as long as that is the same, a node whose number is the next one has nobody before it
// that the line does not know, and whoever enters need not list the queue.
type line struct {
	key        lineKey
	extra      []string      // further markers
	listing    chan struct{} // has room for those who enter with a listing at a time
	contenders int           // that use it; guarded by lines.mu
	idle       *time.Timer   // drops it, when nobody has used it for a moment; guarded by lines.mu

	mu       sync.Mutex
	dir      *framework.Watch // on the directory, or nil
	children []string         // the newest listing, if it has not been taken apart yet
	nodes    []node           // the newest listing, without those that have gone since, and with those that came right after it
	made     int64            // when the directory of the listing was created; zero if there has been none
	next     int32            // the number of the next node in it, whoever makes it; negative if that is not known
	streak   int              // how many nodes came one right after the other, all of them ours
	parted   bool             // a writer has gone since the line was known to be whole
	entries  map[string]turn  // of contenders that have entered without a listing, and have not been told yet
}

type lineKey struct {
	session *framework.Session
	dir     string
	extra   string
}

const (
	// hotStreak is how many nodes in a row must be ours before the queue is entered without a listing: if it turns out that one
	// is needed, that takes another round trip.
	hotStreak = 8
	// maxListings is how many may list the queue at a time when they enter it. Those who come in a crowd wait for some of them,
	// and then need not list it themselves.
	maxListings = 16
	// idleTime is how long a line is kept that nobody uses.
	idleTime = time.Second
)

// lines are those that are in use, or were a moment ago.
var lines struct {
	mu    sync.Mutex
	byKey map[lineKey]*line
}

// joinLine returns the line of a session's contenders in the queue. It must be left.
func (q *queue) joinLine(session *framework.Session) *line {
	key := lineKey{session: session, dir: q.dir, extra: strings.Join(q.opts.extra, "/")}
	lines.mu.Lock()
	defer lines.mu.Unlock()
	l := lines.byKey[key]
	if l == nil {
		l = &line{key: key, extra: q.opts.extra, listing: make(chan struct{}, maxListings), next: -1}
		if lines.byKey == nil {
			lines.byKey = map[lineKey]*line{}
		}
		lines.byKey[key] = l
		session.Follow(q.dir, l)
	}
	if l.idle != nil {
		l.idle.Stop()
	}
	l.contenders++
	return l
}

func (l *line) leave() {
	lines.mu.Lock()
	defer lines.mu.Unlock()
	if l.contenders--; l.contenders > 0 {
		return
	}
	if l.idle == nil {
		l.idle = time.AfterFunc(idleTime, l.drop)
	} else {
		l.idle.Reset(idleTime)
	}
}

// drop forgets a line, unless somebody has come at the same moment.
func (l *line) drop() {
	lines.mu.Lock()
	defer lines.mu.Unlock()
	if l.contenders > 0 || lines.byKey[l.key] != l {
		return
	}
	delete(lines.byKey, l.key)
	l.key.session.Unfollow(l.key.dir, l)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dir != nil {
		l.key.session.Unwatch(l.dir)
	}
}

// hot reports whether the queue is to be entered without a listing, and prepares for that.
func (l *line) hot() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.streak < hotStreak {
		return false
	}
	if l.dir != nil && l.key.session.View(l.dir).Status == framework.StatusGone { // as an empty container does
		l.key.session.Unwatch(l.dir)
		l.dir = nil
	}
	if l.dir == nil {
		l.dir = l.key.session.WatchData(l.key.dir, func() {})
	}
	return l.next >= 0 && l.sameDirectory()
}

// sameDirectory reports whether the directory of the newest listing has been there ever since, as far as everything goes that
// has arrived. mu is held.
func (l *line) sameDirectory() bool {
	if l.dir == nil || l.made == 0 {
		return false
	}
	view := l.key.session.View(l.dir)
	return view.Armed && view.Stat.Czxid == l.made
}

// Listed is for framework.Follower.
func (l *line) Listed(children []string, dir *zk.Stat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.children, l.nodes = children, nil
	l.made, l.next = dir.Czxid, created(dir)
	l.parted = false
}

// created is how many nodes were ever created in a directory, which is the number of the next one; negative from 2³⁰ on. A
// server says twice as many, less the number of children, where its Stat has the version of the children
// (org.apache.zookeeper.server.DataNode.copyStat).
func created(dir *zk.Stat) int32 {
	if sum := dir.Cversion + dir.NumChildren; sum >= 0 {
		return sum / 2
	}
	return -1
}

// Entered is for framework.Follower. If the node is not the next one, somebody else has made nodes before it, of which the line
// knows nothing. From then on no number tells, until there is a listing. If it is the next one, there is no node of a writer that
// reads on, either: that would have been made since.
func (l *line) Entered(name string) {
	n, ok := parseNode(name, l.extra)
	l.mu.Lock()
	defer l.mu.Unlock()
	expected := ok && l.next >= 0 && n.number == l.next && n.number < math.MaxInt32 // that one is given again and again
	l.next = -1
	if !expected {
		l.streak = 0
		return
	}
	l.streak++
	if !l.sameDirectory() {
		return
	}
	l.next, l.parted = n.number+1, false
	if l.entries == nil {
		l.entries = map[string]turn{}
	}
	l.entries[name] = turnOf(l.takeApart(), n)
	l.nodes = append(l.takeApart(), n)
}

// Gone is for framework.Follower.
func (l *line) Gone(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.entries, name)
	if i := slices.Index(l.children, name); i >= 0 {
		l.children = slices.Delete(l.children, i, i+1)
	} else if i := slices.IndexFunc(l.nodes, func(n node) bool { return n.name == name }); i >= 0 {
		l.nodes = slices.Delete(l.nodes, i, i+1)
	}
	l.parted = l.parted || strings.Contains(name, writeMarker)
}

// entry returns, once, where a contender stood when the creation of its node was answered, if the line knew.
func (l *line) entry(name string) (turn, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.entries[name]
	delete(l.entries, name)
	return t, ok
}

// turn decides about a contender, if it can: if the line has its node. A writer that has gone may have left a reader's node with its
// number, which does not bother other readers; everybody else needs a listing from after that.
func (l *line) turn(me node) (turn, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	nodes := l.takeApart()
	if l.parted && !me.shared || !slices.ContainsFunc(nodes, func(n node) bool { return n.name == me.name }) {
		return turn{}, false
	}
	return turnOf(nodes, me), true
}

// takeApart returns the nodes. mu is held.
func (l *line) takeApart() []node {
	if l.children != nil {
		l.nodes = parseNodes(l.children, l.extra)
		l.children = nil
	}
	return l.nodes
}
