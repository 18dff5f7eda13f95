package cache

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

func newContents(depth int, keep func(string) bool, nodes ...string) *contents {
	c := &contents{root: "/t", depth: depth, keep: keep, removed: func(string) {}}
	c.unread, c.unreadIn, c.lacks = map[unreadable]error{}, map[string]map[unreadable]struct{}{}, map[string]unreadable{}
	for _, text := range nodes {
		c.nodes = c.nodes.with(parseNode(text))
	}
	return c
}

func keepAll(string) bool { return true }

// parseNode reads "/t/a czxid mzxid children", of which the numbers may be left out.
func parseNode(text string) *Node {
	n := &Node{Stat: &zk.Stat{Czxid: 1, Mzxid: 1}}
	_, _ = fmt.Sscan(text, &n.Path, &n.Stat.Czxid, &n.Stat.Mzxid, &n.Stat.NumChildren)
	return n
}

func (c *contents) text() (have []string) {
	c.nodes.all(func(n *Node) bool {
		have = append(have, fmt.Sprintf("%s %d %d", n.Path, n.Stat.Czxid, n.Stat.Mzxid))
		return true
	})
	for u := range c.unread {
		have = append(have, fmt.Sprintf("unread %s %v", u.path, u.listing))
	}
	slices.Sort(have)
	return have
}

func TestAnAnswerReplacesWhatTheContentsHave(t *testing.T) {
	for name, test := range map[string]struct {
		have          []string
		task          task
		answer        string
		err           error
		want          []string
		changed, list bool
	}{
		"new without children":    {have: []string{"/t"}, task: task{path: "/t/a"}, answer: "/t/a 2 2", want: []string{"/t 1 1", "/t/a 2 2"}, changed: true},
		"new with children":       {have: []string{"/t"}, task: task{path: "/t/a"}, answer: "/t/a 2 2 3", want: []string{"/t 1 1", "/t/a 2 2"}, changed: true, list: true},
		"without its parent":      {have: []string{"/t"}, task: task{path: "/t/a/b"}, answer: "/t/a/b 2 2", want: []string{"/t 1 1"}},
		"the same":                {have: []string{"/t", "/t/a 2 3"}, task: task{path: "/t/a"}, answer: "/t/a 2 3 1", want: []string{"/t 1 1", "/t/a 2 3"}},
		"data were set":           {have: []string{"/t", "/t/a 2 3"}, task: task{path: "/t/a"}, answer: "/t/a 2 4 1", want: []string{"/t 1 1", "/t/a 2 4"}, changed: true},
		"the past of an ensemble": {have: []string{"/t", "/t/a 5 9"}, task: task{path: "/t/a"}, answer: "/t/a 5 7 1", want: []string{"/t 1 1", "/t/a 5 7"}, changed: true},
		"another node": {
			have: []string{"/t", "/t/a 2 2", "/t/a/b", "/t/a0"}, task: task{path: "/t/a"}, answer: "/t/a 4 4 1",
			want: []string{"/t 1 1", "/t/a 4 4", "/t/a0 1 1"}, changed: true, list: true,
		},
		"read again": {have: []string{"/t", "/t/a 2 2"}, task: task{path: "/t/a", again: true}, answer: "/t/a 2 2 1", want: []string{"/t 1 1", "/t/a 2 2"}, list: true},
		"read again, its children are gone": {
			have: []string{"/t", "/t/a", "/t/a/b"}, task: task{path: "/t/a", again: true}, answer: "/t/a 1 1 0",
			want: []string{"/t 1 1", "/t/a 1 1", "/t/a/b 1 1"}, list: true,
		},
		"with the whole tree": {have: []string{"/t"}, task: task{path: "/t", whole: true}, answer: "/t 1 1 1", want: []string{"/t 1 1"}, list: true},
		"gone":                {have: []string{"/t", "/t/a", "/t/a/b", "/t/a0"}, task: task{path: "/t/a"}, err: zk.ErrNoNode, want: []string{"/t 1 1", "/t/a0 1 1"}, changed: true},
		"gone before":         {have: []string{"/t"}, task: task{path: "/t/a"}, err: zk.ErrNoNode, want: []string{"/t 1 1"}},
		"not readable":        {have: []string{"/t", "/t/a", "/t/a/b"}, task: task{path: "/t/a"}, err: zk.ErrNoAuth, want: []string{"/t 1 1", "unread /t/a false"}, changed: true},
		"the root is gone":    {have: []string{"/t", "/t/a"}, task: task{path: "/t"}, err: zk.ErrNoNode, changed: true},
		"the root is not readable": {
			have: []string{"/t", "/t/a"}, task: task{path: "/t"}, err: zk.ErrNoAuth,
			want: []string{"/t 1 1", "/t/a 1 1", "unread /t false"},
		},
		"at the depth": {have: []string{"/t", "/t/a"}, task: task{path: "/t/a/b"}, answer: "/t/a/b 2 2 7", want: []string{"/t 1 1", "/t/a 1 1", "/t/a/b 2 2"}, changed: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newContents(2, keepAll, test.have...)
			changed, list := c.answered(test.task, session.NodeRead{Stat: parseNode(test.answer).Stat, Err: test.err})
			if have := c.text(); !slices.Equal(have, test.want) || changed != test.changed || list != test.list {
				t.Errorf("got %q, changed %v, list %v, want %q, %v, %v", have, changed, list, test.want, test.changed, test.list)
			}
		})
	}
}

func TestAListingSaysWhatIsToBeReadAndWhatIsGone(t *testing.T) {
	for name, test := range map[string]struct {
		have     []string
		unread   unreadable
		task     task
		czxid    int64
		children string
		err      error
		next     string
		gone     string
		want     []string
	}{
		"new names alone":          {have: []string{"/t", "/t/a"}, task: task{path: "/t"}, children: "c a b", next: "/t/b /t/c", want: []string{"/t 1 1", "/t/a 1 1"}},
		"all names":                {have: []string{"/t", "/t/a"}, task: task{path: "/t", whole: true}, children: "a b", next: "/t/a /t/b", want: []string{"/t 1 1", "/t/a 1 1"}},
		"a child is gone":          {have: []string{"/t", "/t/a", "/t/a/b", "/t/a0"}, task: task{path: "/t"}, children: "a0", gone: "/t/a", want: []string{"/t 1 1", "/t/a0 1 1"}},
		"an unread child is gone":  {have: []string{"/t"}, unread: unreadable{path: "/t/a"}, task: task{path: "/t"}, want: []string{"/t 1 1"}},
		"an unread child is there": {have: []string{"/t"}, unread: unreadable{path: "/t/a"}, task: task{path: "/t"}, children: "a", next: "/t/a", want: []string{"/t 1 1", "unread /t/a false"}},
		"names that are refused":   {have: []string{"/t"}, task: task{path: "/t"}, children: "no a", next: "/t/a", want: []string{"/t 1 1"}},
		"names that none can have": {have: []string{"/t"}, task: task{path: "/t"}, children: ".. a/b a", next: "/t/a", want: []string{"/t 1 1"}},
		"of another node":          {have: []string{"/t", "/t/a"}, task: task{path: "/t"}, czxid: 7, children: "b", next: "/t", want: []string{"/t 1 1", "/t/a 1 1"}},
		"it has gone":              {have: []string{"/t", "/t/a"}, task: task{path: "/t/a"}, err: zk.ErrNoNode, next: "/t/a", want: []string{"/t 1 1", "/t/a 1 1"}},
		"it had gone before":       {have: []string{"/t"}, task: task{path: "/t/a"}, err: zk.ErrNoNode, want: []string{"/t 1 1"}},
		"too long": {
			have: []string{"/t", "/t/a"}, task: task{path: "/t", whole: true}, err: session.ErrTooLarge, next: "/t/a",
			want: []string{"/t 1 1", "/t/a 1 1", "unread /t true"},
		},
		"not too long any more": {have: []string{"/t"}, unread: unreadable{"/t", true}, task: task{path: "/t"}, want: []string{"/t 1 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newContents(everything, func(name string) bool { return name != "no" }, test.have...)
			if test.unread.path != "" {
				c.unreadable(test.unread, zk.ErrNoAuth)
			}
			next, gone := c.listed(test.task, session.NodeRead{Stat: &zk.Stat{Czxid: max(test.czxid, 1)}, Children: strings.Fields(test.children), Err: test.err})
			var paths []string
			for _, task := range next {
				paths = append(paths, task.path)
			}
			if got := strings.Join(paths, " "); got != test.next || strings.Join(gone, " ") != test.gone {
				t.Errorf("got next %q and gone %q, want %q and %q", got, gone, test.next, test.gone)
			}
			if have := c.text(); !slices.Equal(have, test.want) {
				t.Errorf("got %q, want %q", have, test.want)
			}
		})
	}
}

func TestAnEventIsReadForOnlyIfTheNodeIsWanted(t *testing.T) {
	for path, want := range map[string]bool{
		"/t": true, "/t/a": true, "/t/a/b": true, "/t/a/b/c": false, "/t/no": false, "/t/no/a": false, "/t/a/no": true, "/t0": false, "/": false, "/t/a//b": false,
		"/t/kept/a": true,
	} {
		asked := []string{}
		c := newContents(2, func(relative string) bool {
			asked = append(asked, relative)
			return relative != "no" && relative != "kept"
		}, "/t", "/t/kept")
		if got := c.wants(path); got != want {
			t.Errorf("%s: got %v, want %v; the filter was asked for %q", path, got, want, asked)
		}
	}
}

// The directory was replaced between its read and its listing. An event reports that, so what the next read shows is
// not found by reading again.
func TestADirectoryThatIsReplacedBeforeItIsListedIsReadWithoutLookingForLostEvents(t *testing.T) {
	c := newContents(everything, keepAll, "/t 1 1")
	next, gone := c.listed(task{path: "/t", again: true}, session.NodeRead{Stat: &zk.Stat{Czxid: 2}, Children: []string{"a"}})
	if len(next) != 1 || next[0].path != "/t" || next[0].again || len(gone) != 0 {
		t.Errorf("got tasks %+v and %q gone, want one for /t that does not look for lost events, and none gone", next, gone)
	}
}
