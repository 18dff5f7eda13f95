package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

func TestClientHasTheProcessesThatThereAre(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), find)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out,
			"client is up to date with []",
			"client opens 10.0.0.1:8080 in eu",
			"client goes on with 10.0.0.2:8080 in eu, enabled: false",
			"client chooses process 1",
			"client goes on with 10.0.0.2:8080 in eu, enabled: true",
			"process 1 is killed",
			"process 1 registers port 9090",
			"client closes 10.0.0.1:8080 in eu", // before its successor is there
			"client opens 10.0.0.1:9090 in eu",
			"client is cut off, and goes on with [1 2]",
			"process 2 is registered: false",
			"process 2 is registered: true",
			"client closes 10.0.0.2:8080 in eu",
			"client opens 10.0.0.2:8080 in eu",
			"client is up to date with [1 2]",
			"the client has what the servers have: 10.0.0.1:9090 in eu, 10.0.0.2:8080 in eu",
		)
	})
}
