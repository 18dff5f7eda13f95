package cache

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// The directory was replaced between its read and its listing. An event reports that, so what the next read shows is
// not found by reading again.
func TestADirectoryThatIsReplacedBeforeItIsListedIsReadWithoutLookingForLostEvents(t *testing.T) {
	c := newContents(everything, keepAll, "/t 1 1")
	next, gone := c.listed(task{path: "/t", again: true}, session.NodeRead{Stat: &zk.Stat{Czxid: 2}, Children: []string{"a"}})
	if len(next) != 1 || next[0].path != "/t" || next[0].again || len(gone) != 0 {
		t.Errorf("got tasks %+v and %q gone, want one for /t that does not look for lost events, and none gone", next, gone)
	}
}
