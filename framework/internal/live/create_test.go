package live_test

import (
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/live"
)

// A recipe that says nothing of permissions gets those of the provider, which is asked about the name without a GUID.
func TestCreateWithoutAnACLAsksTheProvider(t *testing.T) {
	readable := zk.WorldACL(zk.PermRead | zk.PermDelete)
	provider := func(path string) []zk.ACL {
		if path == "/a" {
			return readable
		}
		return nil
	}
	given := zk.WorldACL(zk.PermAll &^ zk.PermAdmin)
	for _, c := range []struct {
		name     string
		creation live.Creation
		want     []zk.ACL
	}{
		{"nil", live.Creation{Dir: "/", Name: "a"}, readable},
		{"empty", live.Creation{Dir: "/", Name: "a", ACL: []zk.ACL{}}, readable},
		{"protected", live.Creation{Dir: "/", Name: "a", Protected: true}, readable},
		{"the provider has none", live.Creation{Dir: "/", Name: "b"}, zk.WorldACL(zk.PermAll)},
		{"given", live.Creation{Dir: "/", Name: "a", ACL: given}, given},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				entry, err := w.live().Create(t.Context(), &c.creation)
				must(t, err)
				got, _, err := w.live().ACL(t.Context(), entry.Path)
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("ACL of %s: got %v, %v, want %v", entry.Path, got, err, c.want)
				}
			}, framework.WithACLProvider(provider))
		})
	}
}
