package locks

import (
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// A line is what the contenders of one session in one queue know together of who stands in it. It may have nodes that have gone
// already, but it lacks none before any contender that it has: numbers grow, and the only node that ever comes before others is
// a writer's that becomes a reader, for which see turn.
//
// It is told what arrives on the connection, in that order, and asks for nothing.
type line struct {
	key        lineKey
	extra      []string // further markers
	contenders int      // that use it; guarded by lines.mu

	mu       sync.Mutex
	children []string // the newest listing, if it has not been taken apart yet
	nodes    []node   // the newest listing, without those that have gone since, and with those that came right after it
	dir      int64    // creation of the directory; zero if there has been no listing
	created  int32    // twice as many as were ever created in it, until then
	parted   bool     // a writer has gone since the newest listing
}

type lineKey struct {
	session *framework.Session
	dir     string
	extra   string
}

// lines are those that are in use.
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
		l = &line{key: key, extra: q.opts.extra}
		if lines.byKey == nil {
			lines.byKey = map[lineKey]*line{}
		}
		lines.byKey[key] = l
		session.Follow(q.dir, l)
	}
	l.contenders++
	return l
}

func (l *line) leave() {
	lines.mu.Lock()
	defer lines.mu.Unlock()
	if l.contenders--; l.contenders == 0 {
		delete(lines.byKey, l.key)
		l.key.session.Unfollow(l.key.dir, l)
	}
}

// Listed is for framework.Follower.
func (l *line) Listed(children []string, dir *zk.Stat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.children, l.nodes = children, nil
	l.dir, l.created = dir.Czxid, creations(dir)
	l.parted = false
}

// creations is twice the number of children that were ever created in a directory, modulo 2³²: a server says 2·creations -
// children where its Stat has the version of the children (org.apache.zookeeper.server.DataNode.copyStat).
func creations(dir *zk.Stat) int32 { return dir.Cversion + dir.NumChildren }

// Entered is for framework.Follower. The node is the next in line if nothing else was created in the same directory since the
// line was last complete.
func (l *line) Entered(name string, dir *zk.Stat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if dir.Czxid != l.dir || creations(dir) != l.created+2 {
		return
	}
	l.created += 2
	if n, ok := parseNode(name, l.extra); ok {
		l.nodes = append(l.takeApart(), n)
	}
}

// Gone is for framework.Follower.
func (l *line) Gone(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.index(name); i >= 0 {
		l.nodes = slices.Delete(l.nodes, i, i+1)
	}
	l.parted = l.parted || strings.Contains(name, writeMarker)
}

// turn decides by the line, if it can: if it has the contender's node. A writer that has gone may have left a reader's node with
// its number, which does not bother other readers. For everybody else it takes a listing from after that.
func (l *line) turn(r rule, me node) (t turn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.parted && !me.shared || l.index(me.name) < 0 {
		return turn{}, false
	}
	return r(l.nodes, me), true
}

// long reports whether it is worth while to enter the line without a listing.
func (l *line) long() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.takeApart()) >= longLine
}

// longLine is the number of nodes whose names are longer than what it may cost to do without them: another round trip, if they
// turn out to be needed.
const longLine = 32

func (l *line) index(name string) int {
	return slices.IndexFunc(l.takeApart(), func(n node) bool { return n.name == name })
}

// takeApart returns the nodes. mu is held.
func (l *line) takeApart() []node {
	if l.children != nil {
		l.nodes = parseNodes(l.children, l.extra)
		l.children = nil
	}
	return l.nodes
}
