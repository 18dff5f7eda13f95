package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

func TestServiceHasWhatTheServersHaveWithoutAskingThem(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), serve)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out,
			"service takes over limit 1",
			"operator writes limit=many",
			"service refuses the settings \"limit=many\", and keeps limit 2",
			"service is cut off, and goes on with [1 2]",
			"service closes worker 2 at host2:80", // what is gone comes before what is there
			"service opens worker 2 at host9:80",
			"service is up to date with [1 2 3]",
			"worker 1 is killed",
			"service closes worker 1 at host1:80",
			"the service has what the servers have: workers [2 3], limit 3",
		)
	})
}
