//go:build linux

package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

const (
	longSession  = 16 * time.Second
	shortSession = 4 * time.Second
)

func grantLess(c *zookeeper.Config) { c.MaxSessionTimeout = shortSession }

// A server grants less than the others. A holder comes to it, the answer to its handshake is lost, and the holder is
// cut off. The holder knows first if it asks for no more than that server grants, or was granted as little before. The
// last row is S8 of recipes/internal/queue: what it costs is measured.
func TestHolderThatAsksForNoMoreThanAnyServerGrantsKnowsFirst(t *testing.T) {
	t.Parallel()
	e := start(t, zookeeper.EnsembleConfig{Config: zookeeper.Config{MaxSessionTimeout: longSession}})
	_, followers := settled(t, e)
	followers[1].RestartWith(grantLess)
	more, less := followers[0].Route(), followers[1].Route()
	var results table
	for range *rounds {
		for _, c := range []shortened{
			{who: "asks for no more", asks: shortSession},
			{who: "was granted less before", asks: longSession},
			{who: "was never told", asks: longSession, overlaps: true},
		} {
			c.more, c.less, c.server = more, less, followers[1]
			leader, _ := settled(t, e)
			c.play(t, e, leader, &results, func() {
				more.Cut()
				more.Reset()
			})
		}
	}
	t.Logf("seconds after the handshake, of %d rounds\n%s", *rounds, results.String())
}

// The servers are restarted one after the other, with a lower limit. The holder's is the last.
func TestHolderThatAsksForNoMoreThanTheNewLimitKnowsFirstInARollingRestart(t *testing.T) {
	t.Parallel()
	e := start(t, zookeeper.EnsembleConfig{Config: zookeeper.Config{MaxSessionTimeout: longSession}})
	var results table
	for range *rounds {
		for _, c := range []shortened{
			{who: "asks for no more", asks: shortSession}, {who: "was never told", asks: longSession, overlaps: true},
		} {
			leader, followers := settled(t, e)
			followers[0].RestartWith(nil)
			for _, m := range []*zookeeper.Member{followers[1], leader} {
				m.RestartWith(grantLess)
				settled(t, e)
			}
			c.server = followers[0]
			c.less = c.server.Route()
			c.play(t, e, leader, &results, func() { c.server.RestartWith(grantLess) })
		}
	}
	t.Logf("seconds after the handshake, of %d rounds\n%s", *rounds, results.String())
}

// shortened is a contest whose holder comes to a server that grants less, and does not hear it.
type shortened struct {
	who      string
	asks     time.Duration
	overlaps bool
	more     *zookeeper.Route // to a server that grants what is asked for; nil: less leads to the holder's only server
	less     *zookeeper.Route
	server   *zookeeper.Member // at the end of less
}

func (c shortened) play(t *testing.T, e *zookeeper.Ensemble, at *zookeeper.Member, results *table, move func()) {
	t.Helper()
	defer e.Heal()
	servers, keeps := []string{c.less.Addr()}, recordOf(t)
	if c.overlaps {
		keeps = nil
	}
	if c.more != nil {
		servers = append(servers, c.more.Addr())
		c.less.Cut()
	}
	if c.who == "was granted less before" {
		c.less.Heal()
		c.more.Cut()
	}
	holder := connectWith(t, keeps, c.asks, servers)
	defer holder.Close()
	if c.who == "was granted less before" {
		s := present(t, holder)
		c.less.Cut()
		<-s.Done()
		c.more.Heal()
		connected(t, holder)
	}
	second := connect(t, longSession, addrs(at))
	defer second.Close()
	lock := hold(t, holder, name("limits")).against(second)
	id := fmt.Sprintf("sid=0x%x", uint64(present(t, holder).ID()))
	if c.more != nil {
		c.less.Heal()
	}
	c.less.FromServer.Delay(time.Hour)
	time.Sleep(shortSession / 8) // more than half a tick: the leader knows all that the first server has heard
	move()
	if !await.Within(patience, func() bool {
		return strings.Contains(c.server.FourLetter("cons"), id) || lock.lease.Err() != nil
	}) {
		await.Fatalf(t, "a handshake of %s at the server that grants less", id)
	}
	handshake := time.Now()
	c.less.Cut()
	var o outcome
	if c.overlaps {
		o = lock.ended()
	} else {
		o = lock.decided()
	}
	results.add(c.who, handshake, o.knew, o.admitted)
}

func present(t *testing.T, client *framework.Client) framework.Session {
	t.Helper()
	s, err := client.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
