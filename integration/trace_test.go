//go:build unix

package integration_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// What a trace counts is what a real server counts, across a restart of it.
func TestATraceTellsOfOperationsAndStatesOfARealServer(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	var mu sync.Mutex
	var operations []framework.Operation
	var states []framework.State
	client, err := framework.NewClient(server.Addr(), framework.WithSessionTimeout(time.Minute), framework.WithConnectionTimeout(time.Minute), framework.WithTrace(framework.Trace{
		Operation: func(_ context.Context, o framework.Operation) {
			mu.Lock()
			defer mu.Unlock()
			operations = append(operations, o)
		},
		State: func(change framework.StateChange) {
			mu.Lock()
			defer mu.Unlock()
			states = append(states, change.State)
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	data := make([]byte, 100_000)
	if _, _, err := client.Create(t.Context(), "/traced", data); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	server.Restart()
	if _, _, err := client.Get(t.Context(), "/traced"); err != nil {
		t.Fatal(err)
	}
	reported := make(chan struct{})
	client.QueueTraceAlways(func() { close(reported) })
	await.Receive(t, patience, "the client to call its traces for all that has happened", reported)
	_ = client.Close() // a busy server may not confirm it in time
	mu.Lock()
	defer mu.Unlock()
	if len(operations) != 2 {
		t.Fatalf("got operations %+v, want two", operations)
	}
	create, get := operations[0], operations[1]
	if create.Op != "create" || create.Sent < int64(len(data)) || create.Sent > int64(len(data))+200 || create.Server != server.Addr() {
		t.Errorf("got %+v, want a create of %d bytes and little more", create, len(data))
	}
	if get.Op != "get" || get.Received < int64(len(data)) || get.Received > int64(len(data))+200 || get.Tries < 1 {
		t.Errorf("got %+v, want a get of %d bytes and little more", get, len(data))
	}
	if len(states) != 3 || states[0] != framework.StateConnected || states[1] != framework.StateSuspended || states[2] != framework.StateReconnected {
		t.Errorf("got states %v, want CONNECTED, SUSPENDED, RECONNECTED", states)
	}
}
