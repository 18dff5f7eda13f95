package cache

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// A walker has contents follow a tree that changes between any two answers, as a follower does.
type walker struct {
	*contents
	server  map[string]*zk.Stat
	closed  map[string]bool // may not be read
	guarded bool            // no event of such a node is heard
	zxid    int64
	heard   map[string]zk.EventType
	tasks   []task
}

func (p *walker) change(op byte, path string) {
	p.zxid++
	heard := func(kind zk.EventType) {
		if !p.guarded || !p.closed[path] {
			p.heard[path] = kind
		}
	}
	_, parentThere := p.server[parent(path)]
	stat, there := p.server[path]
	switch {
	case op == 0 && !there && (parentThere || path == p.root):
		p.server[path] = &zk.Stat{Czxid: p.zxid, Mzxid: p.zxid}
		heard(zk.EventNodeCreated)
	case op == 1 && there:
		p.server[path] = &zk.Stat{Czxid: stat.Czxid, Mzxid: p.zxid}
		heard(zk.EventNodeDataChanged)
	case op == 2 && there && len(p.namesAt(path)) == 0:
		delete(p.server, path)
		heard(zk.EventNodeDeleted)
		delete(p.closed, path)
	case op == 3 && there && path != p.root:
		p.closed[path] = !p.closed[path]
	}
}

func (p *walker) namesAt(path string) (names []string) {
	for other := range p.server {
		if other != path && parent(other) == path {
			names = append(names, other[len(path)+1:])
		}
	}
	return names
}

func (p *walker) read(path string) session.NodeRead {
	stat, there := p.server[path]
	switch {
	case !there:
		return session.NodeRead{Err: zk.ErrNoNode}
	case p.closed[path]:
		return session.NodeRead{Err: zk.ErrNoAuth}
	}
	now := *stat
	names := p.namesAt(path)
	now.NumChildren = int32(len(names))
	return session.NodeRead{Stat: &now, Children: names}
}

// round is a round of a follower. between changes the server.
func (p *walker) round(between func()) {
	tasks := p.tasks
	p.tasks = nil
	for _, path := range slices.Sorted(maps.Keys(p.heard)) {
		switch {
		case p.heard[path] == zk.EventNodeDeleted && path != p.root:
			p.drop(path)
		case p.has(path) || path == p.root || p.wants(path):
			tasks = append(tasks, task{path: path})
		}
	}
	clear(p.heard)
	var lists []task
	for _, t := range tasks {
		between()
		if _, list := p.answered(t, p.read(t.path)); list {
			lists = append(lists, t)
		}
	}
	for _, t := range lists {
		between()
		next, _ := p.listed(t, p.read(t.path))
		p.tasks = append(p.tasks, next...)
	}
}

func (p *walker) settle(t *testing.T) {
	for range 100 {
		if len(p.tasks)+len(p.heard) == 0 {
			return
		}
		p.round(func() {})
	}
	t.Fatalf("the contents do not settle: %v, %v", p.tasks, p.heard)
}

// want is what a naive walk finds.
func (p *walker) want() (want []string) {
	var walk func(path string)
	walk = func(path string) {
		r := p.read(path)
		switch {
		case p.closed[path]:
			want = append(want, fmt.Sprintf("unread %s false", path))
		case r.Err == nil:
			want = append(want, fmt.Sprintf("%s %d %d", path, r.Stat.Czxid, r.Stat.Mzxid))
			for _, name := range r.Children {
				if child := join(path, name); p.inside(child, 0) && p.keep(p.relative(child)) {
					walk(child)
				}
			}
		}
	}
	walk(p.root)
	slices.Sort(want)
	return want
}

func FuzzContentsAreEqualToTheTree(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 4, 2, 4, 9, 0, 0, 4, 3, 4, 9, 9})
	f.Add([]byte{128, 0, 0, 0, 1, 9, 9, 0, 2, 3, 1, 2, 2, 9, 9, 9})
	f.Fuzz(contentsAreEqualToTheTree)
}

func TestContentsAreEqualToTheTree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		input := make([]byte, random.IntN(200))
		for i := range input {
			input[i] = byte(random.Uint32())
		}
		if contentsAreEqualToTheTree(t, input); t.Failed() {
			t.Fatalf("with %v", input)
		}
	}
}

// contentsAreEqualToTheTree has contents take answers between changes. In the end they have what a walk over the
// server's tree finds.
func contentsAreEqualToTheTree(t *testing.T, input []byte) {
	paths := []string{"/t", "/t/a", "/t/b", "/t/a/a", "/t/a/b", "/t/b/a", "/t/a/a/a", "/t/a/a/b"}
	p := &walker{server: map[string]*zk.Stat{}, closed: map[string]bool{}, heard: map[string]zk.EventType{}}
	next := func() (b byte) {
		if len(input) > 0 {
			b, input = input[0], input[1:]
		}
		return b
	}
	options := next()
	p.guarded = options%2 == 1
	p.contents = newContents(int(options%5)-1, func(relative string) bool { return options < 128 || !strings.HasSuffix(relative, "b") })
	p.tasks = []task{{path: "/t", whole: true}}
	permissions := false
	change := func() {
		op := [...]byte{0, 0, 0, 1, 2, 2, 2, 3}[next()%8]
		permissions = permissions || op == 3
		p.change(op, paths[int(next())%len(paths)])
	}
	for len(input) > 0 {
		if next()%4 == 0 {
			p.round(change)
		} else {
			change()
		}
	}
	p.settle(t)
	if have, want := p.text(), p.want(); !permissions && !slices.Equal(have, want) {
		t.Errorf("after all events: got %q, want %q", have, want)
	}
	p.tasks = []task{{path: "/t", whole: true}}
	p.settle(t)
	if have, want := p.text(), p.want(); !slices.Equal(have, want) {
		t.Errorf("after the whole tree was read: got %q, want %q", have, want)
	}
}
