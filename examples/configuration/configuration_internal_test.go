package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

func TestReadersSeeHostAndPortOfOneTime(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), settings)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out, " announces db", "6 changes, ", " reads: every host was read with its own port")
	})
}
