package discovery_test

import (
	"testing"

	"github.com/gocurator/curator/framework/zktest"
)

func TestACacheDecodesNoInstanceAgainForChangesOfAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeService(t, server)
		for _, id := range []string{"a", "b", "c", "d"} {
			makeNode(t, server, orders+"/"+id, data(t, order(id, 80)))
		}
		client, _ := newClient(t, server)
		c := follow(t, client)
		copies := map[*int]bool{}
		for change := range 6 {
			for i := range c.Instances() {
				if i.ID == "a" {
					copies[i.Port] = true
				}
			}
			setNode(t, server, orders+"/b", data(t, order("b", 81+change)))
			must(t, c.Sync(t.Context()))
		}
		if len(copies) != 1 {
			t.Errorf("got %d copies of an instance that has not changed, want one", len(copies))
		}
	})
}
