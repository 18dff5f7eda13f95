package overlap_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/overlap"
)

func TestLoadKeepsTheBeginOfAReason(t *testing.T) {
	rec := hold(10, 10, 15, records.Lost)
	rec.Reason = strings.Repeat("é", 20_000)
	text, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "holds")
	if err := os.WriteFile(name, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := overlap.Load(&history.History{Path: "/", Locks: []history.Lock{{Path: "/a"}}}, name)
	if err != nil || len(got.Records) != 1 || len(got.Records[0]) != 1 || got.Records[0][0].Reason != strings.Repeat("é", 100)+"…" || got.Incomplete {
		t.Errorf("got %+v, %v, want one record with 100 letters of its reason", got, err)
	}
}
