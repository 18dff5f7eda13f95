package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

func TestHolderKnowsBeforeTheNextIsLetIn(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), outages)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out,
			"is back soon", "client: SUSPENDED", "client: RECONNECTED", "still holds", "let in, after the release",
			"stays broken", "client: SUSPENDED", "my work stops", "the next is let in", "later",
			"falls silent", "my work stops", "the next is let in", "later",
		)
	})
}
