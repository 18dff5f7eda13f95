//go:build linux

package main_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
)

// One server of three takes connections and answers nothing. New clients with default options find another one in time
// for their first operation, and a holder whose server falls silent keeps its lease.
func TestASilentServerOfThree(t *testing.T) {
	t.Parallel()
	const clients, session = 12, 10 * time.Second
	others := 3 * *rounds // a client of theirs can take ten seconds
	e := start(t, quick)
	connectString := strings.Join(addrs(e.Members()...), ",")
	silent := e.Followers()[0]

	holder := connect(t, session, []string{silent.Addr()})
	_ = holder.Close() // its address works
	holding := connect(t, session, addrs(e.Members()...))
	c := hold(t, holding, name("silent"))
	for _, m := range e.Members() { // whichever the holder is connected to falls silent for a session timeout
		m.Clients().Freeze()
		time.Sleep(session)
		m.Clients().Reset()
		m.Clients().Heal()
	}
	if err := c.lease.Err(); err != nil {
		t.Errorf("one server after the other was silent for %v, and the lease ended: %v", session, err)
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
		if _, err := client.Exists(limit(t), "/"); err != nil {
			t.Errorf("the first operation of a new client: %v", err)
		}
		ours = append(ours, time.Since(began))
		_ = client.Close()
	}
	t.Logf("first operation of a new client, with one silent server of three: this library %s", spread(ours))
	for language, command := range otherLanguages() {
		d := startDriver(t, command)
		var theirs []time.Duration
		failed := 0
		for range others {
			who, began := name("new"), time.Now()
			a := <-d.order(map[string]any{"op": "open", "client": who, "connect": connectString, "session": 60_000, "data": "x"})
			if a.Error != "" {
				failed++
				continue
			}
			theirs = append(theirs, time.Since(began))
			d.must(t, map[string]any{"op": "close", "client": who})
		}
		t.Logf("%s: connected %s; %d of %d not within ten seconds", language, spread(theirs), failed, others)
	}
	_ = c.lease.Release()
}
