package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

func TestAsManyWorkAsTheLimitAllows(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), pool)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out, "limit 2: 2 at work", "limit 6: 6 at work", "limit 1: 1 at work", "limit 3: 3 at work", "never more")
	})
}
