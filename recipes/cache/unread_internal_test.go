package cache

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// With a look at all that is unreadable for each node this took 20 s, and takes 0.2 s without.
func TestManyUnreadableNodesCostNoMoreEachThanFew(t *testing.T) {
	const nodes = 30_000
	c := newContents(everything, keepAll, "/t", "/t/a 1 1")
	refused := session.NodeRead{Err: zk.ErrNoAuth}
	began := time.Now()
	for i := range nodes {
		c.answered(task{path: fmt.Sprintf("/t/a/%d", i)}, refused)
	}
	if took, n := time.Since(began), len(c.unread); took > 5*time.Second || n != nodes {
		t.Errorf("got %d unreadable nodes in %v, want %d in less than 5s", n, took, nodes)
	}
	c.drop("/t")
	if len(c.unread) != 0 || len(c.unreadIn) != 0 {
		t.Errorf("%d nodes in %d directories are unreadable without the root, want none", len(c.unread), len(c.unreadIn))
	}
}

func TestUnreadableNodeOfADirectoryThatIsGoneDoesNotCount(t *testing.T) {
	c := newContents(everything, keepAll, "/t")
	c.answered(task{path: "/t/a/b"}, session.NodeRead{Err: zk.ErrNoAuth})
	if len(c.unread) != 0 {
		t.Errorf("got %d unreadable nodes, want none", len(c.unread))
	}
}

// A reading of the whole tree lists no directory whose Stat counts no children.
func TestADirectoryThatIsEmptyAgainIsNotUnreadable(t *testing.T) {
	c := newContents(everything, keepAll, "/t", "/t/a 1 1 2")
	c.listed(task{path: "/t/a"}, session.NodeRead{Err: zk.ErrNoAuth})
	if got, want := len(c.unread), 1; got != want {
		t.Errorf("got %d unreadable listings after the refusal, want %d", got, want)
	}
	_, list := c.answered(task{path: "/t/a", whole: true}, session.NodeRead{Stat: &zk.Stat{Czxid: 1, Mzxid: 1}})
	if list || len(c.unread) != 0 {
		t.Errorf("got a listing %v and %d that are unreadable, want neither", list, len(c.unread))
	}
}
