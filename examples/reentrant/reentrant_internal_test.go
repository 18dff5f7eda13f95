package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

func TestMethodsEnterTheLockThatTheirCallerHolds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), bank)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out, "alice has", "30 holds, 60 re-entries; all 300 are there")
	})
}
