//go:build linux

package main_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

var holders = flag.Int("holders", 100, "how many clients hold locks of their own when the cost is measured")

// The server counts what a session asks for: three pings in a timeout by go-zookeeper, and four renewals if something
// is held or waited for, each with a ping of its own. What is watched is read again when it has been watched for one
// timeout, for two and for four: by the holder its node, by the waiter its node and the holder's.
func TestOnlyHoldersAndWaitersAreRenewedFourTimesATimeout(t *testing.T) {
	t.Parallel()
	const session, timeouts = 6 * time.Second, 6 // so many that a few requests at the edges count for little
	server := zookeeper.Start(t, zookeeper.Config{})
	clients := map[string]*framework.Client{}
	for by, opts := range map[string][]framework.Option{"sync": {framework.WithSyncRenewal()}, "quorum": nil} {
		client := func(who string) *framework.Client {
			who = by + ", " + who
			clients[who] = connect(t, session, []string{server.Addr()}, opts...)
			return clients[who]
		}
		client("idle")
		if err := hold(t, client("released"), name("cost")).lease.Release(); err != nil {
			t.Fatal(err)
		}
		hold(t, client("holder"), name("cost")).against(client("waiter"))
	}
	time.Sleep(session) // the holder's own watch is set some time after its admission

	begun := time.Now() // before the first look: a machine that stalls in between makes it seem less, not more
	before := received(t, server)
	time.Sleep(timeouts * session)
	after, passed := received(t, server), time.Since(begun)
	for who, client := range clients {
		id := sessionOf(t, client)
		perTimeout := float64(after[id]-before[id]) / (passed.Seconds() / session.Seconds())
		want := 3.0
		switch {
		case strings.HasSuffix(who, "holder"):
			want = 11 + 3.0/timeouts
		case strings.HasSuffix(who, "waiter"):
			want = 11 + 6.0/timeouts
		}
		t.Logf("renewed by %s: %.2f requests in a timeout", who, perTimeout)
		// three requests at the edges; fewer mean that a busy machine has lost a connection
		if perTimeout > want+0.6 {
			t.Errorf("renewed by %s: %.2f requests in a timeout, want %.1f", who, perTimeout, want)
		}
	}
}

func sessionOf(t *testing.T, client *framework.Client) string {
	t.Helper()
	return fmt.Sprintf("0x%x", session(t, client).ID())
}

var consLine = regexp.MustCompile(`recved=(\d+),.*sid=(0x[0-9a-f]+),`)

// received is how many requests each session's present connection has made.
func received(t *testing.T, server *zookeeper.Server) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for line := range strings.Lines(server.FourLetter("cons")) {
		if m := consLine.FindStringSubmatch(line); m != nil {
			counts[m[2]], _ = strconv.Atoi(m[1])
		}
	}
	return counts
}

// What it costs one server, and this process, that many clients hold locks.
func TestManyClientsHold(t *testing.T) {
	t.Parallel()
	const session, window = 20 * time.Second, 10 * time.Second
	server := zookeeper.Start(t, zookeeper.Config{})
	leases := make([]*locks.Lease, *holders)
	var starting sync.WaitGroup
	var failed sync.Once
	gate := make(chan struct{}, 50)
	begun := time.Now()
	for i := range leases {
		starting.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			client, err := framework.NewClient(server.Addr(), framework.WithSessionTimeout(session), framework.WithConnectionTimeout(patience))
			if err == nil {
				t.Cleanup(func() { _ = client.Close() })
				leases[i], err = locks.NewInterProcessMutex(client, fmt.Sprintf("/many/%d", i)).Acquire(t.Context())
			}
			if err != nil {
				failed.Do(func() { t.Errorf("client %d: %v", i, err) })
			}
		})
	}
	if starting.Wait(); t.Failed() {
		return
	}
	t.Logf("%d clients hold after %v", *holders, time.Since(begun).Round(time.Millisecond))
	time.Sleep(session / 8)

	begun = time.Now() // see above
	before, serverCPU, ourCPU := received(t, server), cpu(t, server.PID()), cpu(t, os.Getpid())
	time.Sleep(window)
	after, passed := received(t, server), time.Since(begun)
	total := 0
	for id, n := range after {
		total += n - before[id]
	}
	perTimeout := float64(total) / float64(*holders) / (passed.Seconds() / session.Seconds())
	t.Logf("%.2f requests a client in a timeout of %v, %.0f a second; the server takes %.1f %% of a processor, all clients %.1f %%",
		perTimeout, session, float64(total)/passed.Seconds(),
		100*(cpu(t, server.PID())-serverCPU).Seconds()/passed.Seconds(), 100*(cpu(t, os.Getpid())-ourCPU).Seconds()/passed.Seconds())
	if perTimeout > 12 { // three pings, four renewals with a ping each, the four-letter question
		t.Errorf("%.2f requests a client in a timeout, want 11", perTimeout)
	}
	for i, lease := range leases {
		if err := lease.Err(); err != nil {
			t.Errorf("client %d: %v", i, err)
		}
	}
}

// cpu is the processor time that a process has taken.
func cpu(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
