//go:build linux

package main_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// A leader that its followers do not hear any more goes on leading for as long as it hears them; if it then hears
// nothing more either, for another syncLimit. The followers have elected another by that time. The old one answers
// syncs by itself all the while, unless a write waits for a majority that will never come; to end a session is a write,
// so the sessions of everybody else are long here.
//
// The holder knows first. With framework.WithSyncRenewal, which counts answers to sync, the lease outlives the lock:
// that is measured, and stands in doc.go.
func TestHoldersOfADeposedLeaderKnowFirst(t *testing.T) {
	t.Parallel()
	const session = 2 * time.Second
	e := start(t, zookeeper.EnsembleConfig{Config: zookeeper.Config{TickTime: halfDead / 10}})
	var results table
	for range *rounds {
		for _, renewed := range []struct {
			by     string
			record *record // none where the lease outlives the lock
			opts   []framework.Option
		}{{"quorum", recordOf(t), nil}, {"sync", nil, []framework.Option{framework.WithSyncRenewal()}}} {
			var c *contest
			var cut time.Time
			for cut.IsZero() {
				leader, followers := settled(t, e)
				second := connect(t, time.Minute, addrs(followers...))
				holder := connectWith(t, renewed.record, session, addrs(leader), renewed.opts...)
				c = hold(t, holder, name("deposed")).against(second)
				time.Sleep(session)
				if cut = depose(t, e, leader, followers); cut.IsZero() {
					c.either()
				}
			}
			var o outcome
			if renewed.by == "quorum" {
				o = c.decided()
			} else {
				o = c.ended()
			}
			results.add("renewed by "+renewed.by, cut, o.knew, o.admitted)
			e.Heal()
			awaitServing(t, e)
		}
	}
	t.Logf("seconds after the first half of the links died, syncLimit %v, session %v\n%s", halfDead, session, results.String())
}

// ended waits for both ends of the contest, whichever comes first.
func (c *contest) ended() outcome {
	c.t.Helper()
	var o outcome
	for deadline := time.After(patience); o.knew.IsZero() || o.admitted.IsZero(); {
		select {
		case o.knew = <-c.knew:
		case g := <-c.second:
			if o.admitted = g.at; g.err != nil {
				c.t.Fatalf("%s: %v", c.path, g.err)
			}
		case <-deadline:
			if o.knew.IsZero() || !o.admitted.IsZero() {
				c.t.Fatalf("%s: the holder knew at %v, the second was admitted at %v", c.path, o.knew, o.admitted)
			}
			await.Fatalf(c.t, "%s: the second to be admitted; the holder knew at %v", c.path, o.knew)
		}
	}
	return o
}

// halfDead is how long servers go on without hearing from each other: the syncLimit of 10 ticks.
const halfDead = 4 * time.Second

// depose cuts what the leader says to its followers, and what it hears from them just before they give it up. On a busy
// machine it may have ceased to be the leader before; then the result is zero, and nothing is cut.
func depose(t *testing.T, e *zookeeper.Ensemble, leader *zookeeper.Member, followers []*zookeeper.Member) (cut time.Time) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, f := range followers {
		conn, _, err := zk.Connect([]string{f.Addr()}, time.Minute, zk.WithLogInfo(false), zk.WithLogger(silent{}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		awaitSync(t, conn)
		go func() { // the follower has something to say to its leader all the time
			for ticker := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; <-ticker.C {
				go func() { _, _ = conn.Sync("/") }() // ends with the connection
			}
		}()
	}
	time.Sleep(200 * time.Millisecond)
	if leads, _ := settled(t, e); leads != leader {
		return time.Time{}
	}
	for _, f := range followers {
		e.OneWay(leader, f).Cut()
	}
	cut = time.Now()
	time.Sleep(halfDead * 85 / 100)
	e.Peers(leader).Cut()
	return cut
}

// awaitSync waits until a server has answered a sync.
func awaitSync(t *testing.T, conn *zk.Conn) {
	t.Helper()
	var err error
	if !await.Within(patience, func() bool { _, err = conn.Sync("/"); return err == nil }) {
		await.Fatalf(t, "the answer to a sync: %v", err)
	}
}
