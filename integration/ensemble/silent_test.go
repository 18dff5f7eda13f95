//go:build linux

package main_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// One server of three takes connections and answers nothing. New clients with default options find another one in time
// for their first operation, and a holder whose server falls silent keeps its lease.
func TestASilentServerOfThree(t *testing.T) {
	t.Parallel()
	const clients, session = 12, 30 * time.Second
	others := 3 * *rounds // a client of theirs can take ten seconds
	e := start(t, quick)
	connectString := strings.Join(addrs(e.Members()...), ",")
	_, followers := settled(t, e)
	silent := followers[0]

	holder := connect(t, session, []string{silent.Addr()})
	_ = holder.Close() // its address works
	holding := connect(t, session, addrs(e.Members()...))
	c := hold(t, holding, name("silent"))
	from, valid := moved(t, holding, e), c.lease.ValidUntil()
	if !await.Within(patience, func() bool { return c.lease.Err() != nil || c.lease.ValidUntil().After(valid) }) {
		t.Errorf("the lease is neither renewed nor lost in %v, session %v", patience, session)
	}
	if err := c.lease.Err(); err != nil {
		t.Errorf("%s fell silent, its client has gone to another server, and the lease ended, session %v: %v", from, session, err)
	}

	silent.Clients().Freeze()
	defer silent.Clients().Heal()
	var ours []time.Duration
	for range clients {
		began := time.Now()
		client, err := framework.NewClient(connectString)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := await.Context(t.Context(), t, patience, "the first operation of a new client")
		_, err = client.Exists(ctx, "/")
		cancel()
		if err != nil {
			t.Fatalf("the first operation of a new client: %v", err)
		}
		ours = append(ours, time.Since(began))
		_ = client.Close()
	}
	t.Logf("first operation of a new client, with one silent server of three: this library %s", spread(ours))
	for language, command := range otherLanguages(t) {
		d := startDriver(t, command)
		var theirs []time.Duration
		failed := 0
		for range others {
			who, began := name("new"), time.Now()
			opened := d.order(map[string]any{"op": "open", "client": who, "connect": connectString, "session": 60_000, "data": "x", "ms": 10_000})
			select {
			case a := <-opened:
				if a.Error != "" {
					failed++
					continue
				}
			case <-d.exited:
				t.Fatalf("%s: the driver has ended", language)
			}
			theirs = append(theirs, time.Since(began))
			d.must(t, map[string]any{"op": "close", "client": who})
		}
		t.Logf("%s: connected %s; %d of %d not within ten seconds", language, spread(theirs), failed, others)
	}
	_ = c.lease.Release()
}

// moved has the server that a client is connected to fall silent until the client is connected to another one.
func moved(t *testing.T, client *framework.Client, e *zookeeper.Ensemble) (from string) {
	t.Helper()
	var server *zookeeper.Member
	if !await.Within(patience, func() bool {
		from = client.Server()
		for _, m := range e.Members() {
			if m.Addr() == from {
				server = m
			}
		}
		return server != nil
	}) {
		await.Fatalf(t, "the client to be connected to a member; it is connected to %q", from)
	}
	server.Clients().Freeze()
	defer func() {
		server.Clients().Reset()
		server.Clients().Heal()
	}()
	var now string
	if !await.Within(patience, func() bool { now = client.Server(); return now != from && now != "" }) {
		await.Fatalf(t, "the client to be connected to another server than %q; it is connected to %q", from, now)
	}
	return from
}
