package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

func TestOneReplicaRunsTheJobAfterTheOther(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), night)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out,
			"replica 1 has done item 3",
			"replica 1 is cut off",
			"replica 1 stops: locks: lease on \"/lock\" lost", // by its own clock ...
			"replica 2 runs the job",                          // ... and before anybody else is let in
			"replica 2 has done item 4",
			"replica 2 was asked to leave",
			"replica 3 runs the job",
			"every item was done once, by replicas 1 1 1 2 2 2 3 3 3",
		)
	})
}
