package main

import (
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/examples/internal/demo"
)

func TestLateHolderWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), guarded)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out, "Bob holds", "the database refuses", "ZooKeeper refuses", "before it is sent", "is Bob's in both")
	})
}
