//go:build linux

package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gocurator/curator/integration/bench/caches"
)

// Every cache is measured once, in small: the figures mean nothing, but they are there, and the limits that hold on any
// machine are kept.
func TestSmokeOfCaches(t *testing.T) {
	mode := os.Getenv("CURATOR_INTEGRATION")
	if mode == "" {
		t.Skip("CURATOR_INTEGRATION is not set: not starting servers")
	}
	o, err := parseCache(strings.Fields("-nodes 120 -many 3x120 -disturb 3x120 -changes 20 -cuts 1 -quiet 100ms -timeout 40s"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	table, err := measureCaches(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Missing) > 0 {
		if mode == "required" {
			t.Fatalf("not everything is installed: %v", table.Missing)
		}
		t.Skipf("not everything is installed: %v", table.Missing)
	}
	var text strings.Builder
	if err := table.Write(&text); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
	if got, want := len(table.Costs), 4; got != want {
		t.Errorf("got %d rows of costs, want %d", got, want)
	}
	for _, c := range table.Costs {
		if c.Full <= 0 || len(c.Events) == 0 || len(c.Events)+c.Missed != o.changes {
			t.Errorf("%s: got %+v, want a time to full, and events of %d changes", c.Who, c.Figures, o.changes)
		}
	}
	if got, want := len(table.Leases), 2; got != want {
		t.Errorf("got leases at %d servers, want %d", got, want)
	}
	for _, l := range table.Leases {
		wantUndisturbed(t, l)
	}
}

// wantUndisturbed checks what holds on any machine: the lease has lived, and few reads were under way.
func wantUndisturbed(t *testing.T, p caches.Phases) {
	t.Helper()
	if len(p.Phases) != 3 {
		t.Fatalf("%s: got %d phases, want 3", p.Where, len(p.Phases))
	}
	for _, d := range p.Phases {
		if d.Left <= 0 || d.Reads > 64 || d.Phase != caches.Quiet && d.Reads == 0 {
			t.Errorf("%s, %s: got %v left and %d reads under way, want a lease, and 1 to 64 reads with caches", p.Where, d.Phase, d.Left, d.Reads)
		}
	}
}

func TestCacheRefusesWrongFlagsAllAtOnce(t *testing.T) {
	_, err := parseCache(strings.Fields("-impls etcd -at there -nodes 0,1 -many 3x -disturb x3 -changes 0 more"), io.Discard)
	if err == nil {
		t.Fatal("got no error, want one for each flag")
	}
	for _, want := range []string{`"etcd"`, `"there"`, "-nodes 0", `"3x"`, `"x3"`, "-changes", "more"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want it to name %s", err, want)
		}
	}
}
