package programs

import (
	"slices"
	"strings"
	"testing"
)

func TestProgramIsBuiltAsItsTestIs(t *testing.T) {
	for _, c := range []struct {
		race  bool
		cover string
		want  string
	}{
		{false, "", ""},
		{true, "", "-race"},
		{false, "set", "-cover -covermode=set -coverpkg=github.com/gocurator/curator/..."},
		{true, "atomic", "-race -cover -covermode=atomic -coverpkg=github.com/gocurator/curator/..."},
	} {
		if got := buildFlags(c.race, c.cover); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("race detector %v, coverage %q: got flags %q, want %q", c.race, c.cover, got, c.want)
		}
	}
}
