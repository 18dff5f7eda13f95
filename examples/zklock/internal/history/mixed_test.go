package history_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/internal/history"
)

func TestQueuesWhoseNodesDoNotExcludeEachOtherEverywhereMayOverlap(t *testing.T) {
	const kazoo = "0123456789abcdef0123456789abcdef__lock__"
	for name, test := range map[string]struct {
		want  string // what the only reason begins with; empty for none
		steps []string
	}{
		"mutexes alone":           {"", []string{"create 1 " + guid + "lock-01", "create 2 lock-02"}},
		"kazoo alone":             {"", []string{"create 1 " + kazoo + "01", "create 2 " + kazoo + "02"}},
		"kazoo and a mutex":       {"kazoo", []string{"create 1 " + kazoo + "01", "create 2 lock-02"}},
		"kazoo and a mutex once":  {"kazoo", []string{"create 1 " + kazoo + "01", "create 2 lock-02", "close 1", "close 2", "create 3 lock-03"}},
		"kazoo after a mutex":     {"", []string{"create 2 lock-01", "delete 2 lock-01", "create 1 " + kazoo + "02"}},
		"a mutex and a reader":    {"a mutex", []string{"create 1 lock-01", "create 2 __READ__02"}},
		"readers and writers":     {"", []string{"create 1 __WRIT__01", "create 2 __READ__02"}},
		"a downgrade in place":    {"", []string{"create 1 __WRIT__01", "create 2 __WRIT__02", "create 1 __READ__01"}},
		"a downgrade behind":      {"a writer", []string{"create 1 __WRIT__01", "create 2 __WRIT__02", "create 1 __READ__03"}},
		"a reader of another":     {"", []string{"create 1 __WRIT__01", "create 2 __WRIT__02", "create 3 __READ__03"}},
		"a latch beside a mutex":  {"", []string{"create 1 latch-01", "create 2 lock-02"}},
		"a mutex beside a writer": {"a mutex", []string{"create 1 lock-01", "create 2 __WRIT__02", "delete 1 lock-01"}},
	} {
		got := history.Of("/l", slices.Values(replay(test.steps...)), history.Options{}).Locks[0].MayOverlap
		if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], test.want)) {
			t.Errorf("%s: got %q, want one that begins with %q", name, got, test.want)
		}
	}
}
