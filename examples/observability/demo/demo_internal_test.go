package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestProgramShowsWhatThereIsToSee(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var out bytes.Buffer
		both := &lines{out: &out}
		options := []framework.Option{framework.WithDialer(zktest.New(t).DialContext)}
		if err := observe(t.Context(), "any:2181", options, both, both); err != nil {
			t.Error(err)
		}
		for _, want := range []string{
			"acquire nightly", "hold nightly", "level=INFO",
			`curator_lock_acquires_total{kind="lock",lock="nightly",outcome="acquired"} 2`,
			`curator_lock_acquires_total{kind="lock",lock="nightly",outcome="reentered"} 1`,
			`curator_lock_acquires_total{kind="lock",lock="nightly",outcome="not_acquired"} 1`,
			`curator_lock_lost_total{lock="nightly",reason="closed"} 1`,
			`curator_lock_revocation_requests_total{lock="nightly"} 1`,
			`curator_client_states_total{state="CONNECTED"} 2`,
			`curator_locks_held{kind="lock",lock="nightly"} 0`,
			`curator_lock_waiters{kind="lock",lock="nightly"} 0`, `curator_client_connected{client="first"} 1`,
			`curator_registration_registered{registration="workers"} 1`, `curator_election_leading{lock="leaders"} 1`,
			`curator_cache_stale_seconds{cache="queue"} 0`, `curator_cache_readings_total{cache="queue"} 1`,
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("got no %q in\n%s", want, &out)
			}
		}
	})
}
