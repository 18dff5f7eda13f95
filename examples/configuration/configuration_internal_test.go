package main

import (
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/examples/internal/demo"
)

func TestReadersSeeHostAndPortOfOneTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), settings)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out, " announces db", "6 changes, ", " reads: every host was read with its own port")
	})
}
