package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

func TestJobMakesRoomBetweenTwoItems(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), batch)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out,
			"the job has done item 4", // while it does the next one, the report begins to wait
			"the job has done item 5",
			"the job makes room",
			"the report reads what is there",
			"the job has done item 6",
			"the job has done item 9",
			"the job makes room",
			"the report reads what is there",
			"the job has done item 10",
			"the job took the lock 3 times for 10 items",
		)
	})
}
