//go:build linux

package main_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/zookeeper"
)

// asShipped are the limits of ZooKeeper's sample configuration: a tick of 2 s, and a syncLimit of 5 of them.
var asShipped = zookeeper.EnsembleConfig{SyncLimit: 5, Config: zookeeper.Config{TickTime: 2 * time.Second}}

// A follower that is cut off from its leader goes on answering pings and reads for syncLimit ticks. The leader
// meanwhile ends the session and lets the next one in.
func TestHolderOnAFollowerThatIsCutOffKnowsFirst(t *testing.T) {
	t.Parallel()
	const session = 5 * time.Second
	e := start(t, asShipped)
	drivers := map[string]*driver{}
	for language, command := range otherLanguages(t) {
		drivers[language] = startDriver(t, command)
	}
	var results table
	for round := range *rounds {
		leader, followers := settled(t, e)
		if t.Failed() {
			return
		}
		follower := followers[round%len(followers)]

		holder := connect(t, session, addrs(follower))
		second := connect(t, time.Minute, addrs(leader))
		ours := hold(t, holder, name("cutoff")).against(second)
		rivals := []*rival{zkLock(t, follower.Addr(), leader.Addr(), session)}
		for language, d := range drivers {
			rivals = append(rivals, foreign(t, language, d, follower.Addr(), leader.Addr(), session))
		}
		rivals = slices.DeleteFunc(rivals, func(r *rival) bool {
			stands := r.stands(second)
			if !stands {
				t.Logf("%s: left out, since the holder's session ended before the second stood behind it", r.name)
				r.close()
			}
			return !stands
		})
		// Pings and renewals are somewhere in between. Every other time the handshake is not so long ago.
		phase, ourName := rand.N(session/4), "this library, just connected"
		if round%2 == 0 {
			phase, ourName = session/2+rand.N(session/2), "this library, in steady state"
		}
		time.Sleep(phase)

		e.Between(follower, leader).Cut()
		cut := time.Now()

		o := ours.decided()
		results.add(ourName, cut, o.knew, o.admitted)
		for _, r := range rivals {
			knew, admitted := r.outcome(t)
			if knew.IsZero() || admitted.IsZero() {
				continue
			}
			results.add(r.name, cut, knew, admitted)
			if r.pings != nil {
				naive := r.pings.deadline()
				results.add("a deadline counted from pings", cut, naive, admitted)
				if naive.Before(admitted) {
					t.Logf("round %d: the naive deadline held this time, by %v", round, admitted.Sub(naive))
				}
			}
		}
		e.Heal()
		awaitServing(t, e)
		for _, r := range rivals {
			r.close()
		}
		_ = holder.Close()
		_ = second.Close()
	}
	t.Logf("seconds after the cut, of %d rounds\n%s", *rounds, results.String())
}

// outcome waits for both ends of a rival's contest.
func (r *rival) outcome(t *testing.T) (knew, admitted time.Time) {
	t.Helper()
	for range 2 {
		select {
		case knew = <-r.knew:
		case admitted = <-r.admitted:
		case <-time.After(patience):
			// A rival whose second loses its session does not wait on: this library is what is judged here.
			t.Logf("%s: left out, the holder knew at %v, the second was admitted at %v", r.name, knew, admitted)
			return knew, admitted
		}
		if !knew.IsZero() && !admitted.IsZero() {
			break
		}
	}
	return knew, admitted
}

// A table collects what was measured, by who it was measured for.
type table struct{ rows []*row }

type row struct {
	who                    string
	knew, admitted, margin []time.Duration
}

func (t *table) add(who string, zero, knew, admitted time.Time) {
	i := slices.IndexFunc(t.rows, func(r *row) bool { return r.who == who })
	if i < 0 {
		i = len(t.rows)
		t.rows = append(t.rows, &row{who: who})
	}
	r := t.rows[i]
	r.knew = append(r.knew, knew.Sub(zero))
	r.admitted = append(r.admitted, admitted.Sub(zero))
	r.margin = append(r.margin, admitted.Sub(knew))
}

func (t *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-32s %-24s %-24s %s\n", "", "holder knew", "second admitted", "knew first by (below 0: two holders)")
	for _, r := range t.rows {
		fmt.Fprintf(&b, "%-32s %-24s %-24s %s\n", r.who, spread(r.knew), spread(r.admitted), spread(r.margin))
	}
	return b.String()
}

// spread is the median, and the least and the most.
func spread(ds []time.Duration) string {
	if len(ds) == 0 {
		return "-"
	}
	ds = slices.Sorted(slices.Values(ds))
	return fmt.Sprintf("%5.2f [%5.2f .. %5.2f]", ds[len(ds)/2].Seconds(), ds[0].Seconds(), ds[len(ds)-1].Seconds())
}
