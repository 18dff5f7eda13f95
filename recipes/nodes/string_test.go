package nodes_test

import (
	"fmt"
	"log/slog"
	"strings"
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
		for _, is := range []string{"not there", "there"} {
			want := fmt.Sprintf(`persistent node "/services/web/1" (%s)`, is)
			for _, verb := range []string{"%v", "%s", "%+v", "%#v"} {
				if got := fmt.Sprintf(verb, node); got != want {
					t.Errorf("%s: got %s, want %s", verb, got, want)
				}
			}
			var text strings.Builder
			slog.New(slog.NewTextHandler(&text, nil)).Info("x", "node", node)
			if want := fmt.Sprintf("node.path=/services/web/1 node.there=%v\n", is == "there"); !strings.HasSuffix(text.String(), want) {
				t.Errorf("got %s, want %s at its end", text.String(), want)
			}
			if is == "not there" {
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

func TestANilPersistentNodeIsPrintedAsNil(t *testing.T) {
	var node *nodes.PersistentNode
	for form, got := range printtest.Texts(node) {
		if !strings.Contains(got, "<nil>") || strings.Contains(got, "anic") {
			t.Errorf("%s: got %s, want <nil>", form, got)
		}
	}
}
