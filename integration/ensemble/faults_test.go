//go:build linux

package main_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// quick are limits under which a server that has lost the others notices after two seconds.
var quick = zookeeper.EnsembleConfig{SyncLimit: 10, Config: zookeeper.Config{TickTime: 200 * time.Millisecond}}

// placed are three contests that differ in where the holder is: at the leader only, at a follower only, or anywhere.
// The seconds are connected to the followers.
type placed struct{ atLeader, atFollower, anywhere *contest }

func place(t *testing.T, e *zookeeper.Ensemble, session time.Duration) (leader *zookeeper.Member, p placed) {
	t.Helper()
	leader, followers := settled(t, e)
	second := connect(t, time.Minute, addrs(followers...))
	p = placed{
		atLeader:   hold(t, connect(t, session, addrs(leader)), name("at-leader")).against(second),
		atFollower: hold(t, connect(t, session, addrs(followers[0])), name("at-follower")).against(second),
		anywhere:   hold(t, connect(t, session, addrs(e.Members()...)), name("anywhere")).against(second),
	}
	time.Sleep(session/4 + rand.N(session/2))
	return leader, p
}

func TestHoldersOfAFrozenLeaderKnowFirst(t *testing.T) {
	t.Parallel()
	e := start(t, quick)
	for range *rounds {
		leader, p := place(t, e, 4*time.Second)
		leader.Freeze()
		o := p.atLeader.decided()
		t.Logf("at the frozen leader: the holder knew %v before the second was admitted", o.margin())
		t.Logf("at a follower: kept %v; anywhere: kept %v", p.atFollower.either(), p.anywhere.either())
		leader.Unfreeze()
		awaitServing(t, e)
	}
}

func TestHoldersOfALeaderThatIsCutOffKnowFirst(t *testing.T) {
	t.Parallel()
	e := start(t, quick)
	for range *rounds {
		leader, p := place(t, e, 4*time.Second)
		e.Peers(leader).Cut()
		o := p.atLeader.decided()
		t.Logf("at the leader that was cut off: the holder knew %v before the second was admitted", o.margin())
		t.Logf("at a follower: kept %v; anywhere: kept %v", p.atFollower.either(), p.anywhere.either())
		e.Heal()
		awaitServing(t, e)
	}
}

// The follower reports which sessions it has heard from every half tick, which is exactly a quarter of the shortest
// timeout that servers grant by default. An observer is no different.
func TestHoldersOfTheShortestSessionsKnowFirst(t *testing.T) {
	t.Parallel()
	const tick = time.Second
	e := start(t, zookeeper.EnsembleConfig{Observers: 1, Config: zookeeper.Config{TickTime: tick}})
	var results table
	for range 2 * *rounds {
		leader, followers := settled(t, e)
		follower, observer := followers[0], e.Members()[3]
		second := connect(t, time.Minute, addrs(leader))
		contests := map[string]*contest{}
		begin := func(who string, holder *framework.Client) {
			contests[who] = hold(t, holder, name("shortest")).against(second)
		}
		idle := connect(t, 2*tick, addrs(follower)) // for a third of its timeout
		time.Sleep(2 * tick / 3)
		begin("at a follower, renewed", connect(t, 2*tick, addrs(follower)))
		begin("at an observer, renewed", connect(t, 2*tick, addrs(observer)))
		time.Sleep(tick + rand.N(tick))
		fresh := connect(t, 2*tick, addrs(follower))
		connected(t, idle)
		begin("idle, then acquired and cut at once", idle)
		begin("connected, acquired and cut at once", fresh)

		cut := time.Now()
		e.Between(leader, follower).Cut()
		e.Between(leader, observer).Cut()
		for who, c := range contests {
			o := c.decided()
			results.add(who, cut, o.knew, o.admitted)
		}
		e.Heal()
		awaitServing(t, e)
	}
	t.Logf("seconds after the cut, tick %v, session %v\n%s", tick, 2*tick, results.String())
}

// A session that has moved is renewed at another server, through another way to the leader; the old one may still have
// something to say.
func TestAHolderThatHasJustMovedKnowsFirst(t *testing.T) {
	t.Parallel()
	const session = 2 * time.Second
	e := start(t, quick)
	var results table
	for range 2 * *rounds {
		leader, followers := settled(t, e)
		second := connect(t, time.Minute, addrs(leader))
		from, to := followers[0].Route(), followers[1].Route()
		to.Cut()
		states := make(chan framework.State, 100)
		holder := connect(t, session, []string{from.Addr(), to.Addr()}, framework.WithStateListener(func(now framework.StateChange) { states <- now.State }))
		c := hold(t, holder, name("moved")).against(second)
		time.Sleep(session/2 + rand.N(session/2))

		// What is said on the old way arrives late; the client moves when it has waited long enough.
		to.Heal()
		from.ToServer.Freeze()
		moved := false
		for deadline := time.After(patience); !moved; {
			select {
			case s := <-states:
				moved = s == framework.StateReconnected
			case <-deadline:
				await.Fatalf(t, "the client to move to the other server")
			}
		}
		time.Sleep(rand.N(20 * time.Millisecond))
		to.Cut()
		cut := time.Now()
		from.Freeze()
		from.ToServer.Heal() // what was held back arrives at the old server now
		o := c.decided()
		results.add("moved, then cut off", cut, o.knew, o.admitted)
	}
	t.Logf("seconds after the second cut, session %v\n%s", session, results.String())
}

func TestHoldersKnowFirstWhenTheTimeoutIsNegotiatedAnew(t *testing.T) {
	t.Parallel()
	const long, short = 4 * time.Second, 2 * time.Second
	e := start(t, quick)
	route := e.Members()[0].Route()
	holder := connect(t, long, []string{route.Addr()})
	second := connect(t, long, addrs(e.Members()...))
	for _, limits := range []struct {
		maximum time.Duration
		name    string
	}{{short, "shorter"}, {time.Minute, "longer"}} {
		before := hold(t, holder, name(limits.name)).against(second)
		e.Restart(func(c *zookeeper.EnsembleConfig) { c.MaxSessionTimeout = limits.maximum })
		t.Logf("over the restart with %s timeouts: kept %v", limits.name, before.either())

		connected(t, holder)
		after := hold(t, holder, name(limits.name)).against(second)
		time.Sleep(short/2 + rand.N(short/2))
		route.Cut()
		cut := time.Now()
		o := after.decided()
		t.Logf("with %s timeouts: the holder knew %v after the cut, %v before the second was admitted", limits.name, o.knew.Sub(cut), o.margin())
		route.Heal()
		connected(t, holder)
	}
}

// Servers that come back give every session its whole timeout again.
func TestHoldersKnowFirstWhenTheWholeEnsembleRestarts(t *testing.T) {
	t.Parallel()
	config := quick
	config.MaxSessionTimeout = 5 * time.Minute
	e := start(t, config)
	for _, outage := range []struct {
		session, down time.Duration
		kept          bool
	}{
		{5 * time.Minute, 0, true},  // there is time enough
		{4 * time.Second, 0, false}, // either way
		{2 * time.Second, 3 * time.Second, false},
	} {
		holder := connect(t, outage.session, addrs(e.Members()...))
		second := connect(t, time.Minute, addrs(e.Members()...))
		c := hold(t, holder, name("restart")).against(second)
		id := session(t, holder).ID()
		for _, m := range e.Members() {
			m.Kill()
		}
		time.Sleep(outage.down)
		for _, m := range e.Members() {
			m.Start()
		}
		awaitServing(t, e)
		switch {
		case outage.kept:
			if len(c.second) > 0 || c.lease.Err() != nil || !c.handOver() {
				t.Errorf("session of %v: the lock was lost: %v", outage.session, c.lease.Err())
			}
			if now := session(t, holder).ID(); now != id {
				t.Errorf("session %#x became %#x", id, now)
			}
		case outage.down > outage.session:
			o := c.decided()
			t.Logf("session of %v, down for %v: the holder knew %v before the second was admitted", outage.session, outage.down, o.margin())
		default:
			t.Logf("session of %v, down for as long as it takes: kept %v", outage.session, c.either())
		}
	}
}

func session(t *testing.T, client *framework.Client) framework.Session {
	t.Helper()
	ctx, cancel := await.Context(t.Context(), t, patience, "a session")
	defer cancel()
	s, err := client.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
