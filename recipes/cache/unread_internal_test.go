package cache

import (
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

func TestUnreadableNodesGoWithTheRoot(t *testing.T) {
	const nodes = 100
	c := newContents(everything, keepAll, "/t", "/t/a 1 1")
	answerUnreadable(c, nodes)
	if n := len(c.unread); n != nodes {
		t.Errorf("got %d unreadable nodes, want %d", n, nodes)
	}
	c.drop("/t")
	if len(c.unread) != 0 || len(c.unreadIn) != 0 {
		t.Errorf("%d nodes in %d directories are unreadable without the root, want none", len(c.unread), len(c.unreadIn))
	}
}

// Many unreadable nodes take no longer each than few. If each answer looked at all of them, the second would take
// twenty times as long.
func BenchmarkUnreadableNode(b *testing.B) {
	for _, nodes := range []int{1_500, 30_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			for b.Loop() {
				answerUnreadable(newContents(everything, keepAll, "/t", "/t/a 1 1"), nodes)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*nodes), "ns/node")
		})
	}
}

func answerUnreadable(c *contents, nodes int) {
	for i := range nodes {
		c.answered(task{path: fmt.Sprintf("/t/a/%d", i)}, session.NodeRead{Err: zk.ErrNoAuth})
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
