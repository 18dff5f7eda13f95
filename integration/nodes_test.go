//go:build unix

package integration_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/nodes/nodestest"
)

// Programs register, close, are killed, stopped and cut off at random, while the server restarts.
func TestRegistrationsOnAServerOfAnyAgeKeepTheLaws(t *testing.T) {
	t.Parallel()
	const tick, seed, rounds, steps = 200 * time.Millisecond, 1, 2, 50
	server := zookeeper.Start(t, zookeeper.Config{TickTime: tick})
	nodestest.Run(t, nodestest.Servers{
		Connect: server.Addr(), SessionTimeout: time.Second, Tick: tick, Disturb: server.Restart, Transactions: server.Transactions,
	}, seed, rounds, steps)
}
