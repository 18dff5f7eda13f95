package pages_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/session"
)

func TestTheRunbookHasARowForEachCauseOfALoss(t *testing.T) {
	page, err := os.ReadFile("runbook/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "### Why a lease was lost\n")
	if !found {
		t.Fatal("got no section on why a lease was lost, want one")
	}
	section, _, _ = strings.Cut(section, "\nIn the servers' logs:")
	for _, kind := range session.LossKinds() {
		if got := strings.Count(section, fmt.Sprintf("\n| `%v` |", kind)); got != 1 {
			t.Errorf("%v: got %d rows, want 1", kind, got)
		}
	}
}
