package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

func TestLateHolderWritesNothing(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), guarded)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out, "Bob holds", "the database refuses", "ZooKeeper refuses", "before it is sent", "is Bob's in both")
	})
}
