package nodes_test

import (
	"fmt"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/printtest"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestAPersistentNodeSaysWhereItIs(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := newNode(t, client, path, "secret")
		for _, there := range []bool{false, true} {
			want := fmt.Sprintf(`persistent node "/services/web/1" (there: %t)`, there)
			if got := fmt.Sprint(node); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if !there {
				wantErr(t, node.Start(t.Context()))
			}
		}
	})
}

func TestAPersistentNodeShowsNoCredentials(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server, framework.WithAuthorization("digest", []byte(printtest.Credentials)))
		printtest.WantNoCredentials(t, ".", map[string]any{
			"PersistentNode": start(t, client, path, "up"), "Option": nodes.Overwriting(),
		})
	})
}
