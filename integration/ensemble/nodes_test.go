//go:build linux

package main_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/nodes/nodestest"
)

// Programs register, close, are killed, stopped and cut off at random, while elections take place.
func TestRegistrationsKeepTheLawsThroughElections(t *testing.T) {
	t.Parallel()
	const seed, rounds, steps = 1, 2, 50
	e := start(t, quick)
	settled(t, e)
	nodestest.Run(t, nodestest.Servers{
		Connect: strings.Join(addrs(e.Members()...), ","), SessionTimeout: 2 * time.Second, Tick: quick.TickTime,
		Disturb: func() {
			e.Leader().Restart()
			awaitServing(t, e)
		},
		Transactions: e.Transactions,
	}, seed, rounds, steps)
}
