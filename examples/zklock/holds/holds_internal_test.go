package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

func TestRecordsSayHowEachHoldEnded(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), recordHolds)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out, "the second client holds", "/lock: token", "released", "/lock: token", "lost", "not renewed")
	})
}
