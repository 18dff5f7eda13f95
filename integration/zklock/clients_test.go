//go:build linux

package zklock_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// noLock is the status of zklock if there is no lock at a path.
const noLock = 66

// A holderClient is what zklock who -json says of the client of the first holder.
type holderClient struct {
	State, Address, Server string
	Timeout                int64  `json:"timeout_ms"`
	Heard                  *int64 `json:"heard_ms_ago"`
	Left                   *int64 `json:"ends_in_ms"`
	About                  bool
}

// clientOfHolder asks who; ok is false if nothing holds the lock.
func clientOfHolder(t *testing.T, servers, path string) (c holderClient, ok bool) {
	t.Helper()
	stdout, stderr, status := zklock(t, servers, "who", "-json", "-answer-within", "30s", path)
	if status == noLock { // servers remove a directory that has become empty
		return holderClient{}, false
	}
	var lock struct {
		Contenders []struct {
			State  string
			Client holderClient
		}
	}
	if err := json.Unmarshal([]byte(stdout), &lock); err != nil || status != 0 {
		t.Fatalf("got status %d and %v from\n%s%s", status, err, stdout, stderr)
	}
	if len(lock.Contenders) == 0 || lock.Contenders[0].State != "holds" {
		return holderClient{}, false
	}
	return lock.Contenders[0].Client, true
}

// awaitState asks who until it says that the holder's client is in a state.
func awaitState(t *testing.T, servers, path, want string) (c holderClient) {
	t.Helper()
	if !await.Within(patience, func() bool {
		c, _ = clientOfHolder(t, servers, path)
		return c.State == want
	}) {
		await.Fatalf(t, "the holder's client to be %s (%v), got %+v", want, patience, c)
	}
	return c
}

func TestOnRealServersWhoTellsWhetherTheHolderLives(t *testing.T) {
	t.Parallel()
	ensemble := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{})
	leader, followers := ensemble.Settled()
	const timeout = 28 * time.Second
	for name, at := range map[string]*zookeeper.Member{"leader": leader, "follower": followers[0]} {
		t.Run("holder at the "+name, func(t *testing.T) {
			t.Parallel()
			path, route := "/locks/"+name, at.Route()
			if _, held := clientOfHolder(t, ensemble.ConnectString(), path); held {
				t.Fatal("got a holder of a lock that is not there yet")
			}
			holder := start(t, route.Addr(), with(session, path, "--", "sleep", "1000")...)
			holder.await("started")
			all := ensemble.ConnectString()
			alive := awaitState(t, all, path, "alive")
			if alive.Server != at.Addr() || !strings.HasPrefix(alive.Address, "127.0.0.1:") || alive.Timeout != timeout.Milliseconds() {
				t.Errorf("got %+v, want a client of 127.0.0.1 at %s with a session of %v", alive, at.Addr(), timeout)
			}
			if alive.Heard == nil || alive.Left == nil || *alive.Left > timeout.Milliseconds()+1000 {
				t.Errorf("got %+v, want when it was heard, and that its session ends within %v", alive, timeout)
			}
			route.Cut()
			silent := awaitState(t, all, path, "silent")
			if silent.Heard == nil || silent.Left == nil || *silent.Left >= timeout.Milliseconds()/2+1000 {
				t.Errorf("got %+v, want a client that was not heard for half of its session", silent)
			}
			said := time.Now()
			if !await.Within(patience, func() bool {
				_, held := clientOfHolder(t, all, path)
				return !held
			}) {
				await.Fatalf(t, "the session to end (%v)", patience)
			}
			t.Logf("the session ended %v after who said that it ends in %v ms", time.Since(said).Round(100*time.Millisecond), *silent.Left)
		})
	}
}
