//go:build unix

package zookeeper_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// patience bounds each wait for what must happen.
const patience = 2 * time.Minute

func TestEveryLinkOfAnEnsembleCanBeCut(t *testing.T) {
	t.Parallel()
	e := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Servers: 3, Observers: 1})
	// They may look for a leader once more after they have served, if the machine is busy.
	if leader, _ := e.Settled(); leader == nil {
		t.FailNow()
	}
	await.Until(t, patience, "the last server to observe", func() bool { return e.Members()[3].Role() == "observer" })

	// If a single connection went past the proxies, a client would go on.
	for _, m := range e.Members() {
		e.Peers(m).Cut()
	}
	await.Until(t, patience, "all servers to stop serving without links", func() bool {
		for _, m := range e.Members() {
			if m.Role() != "" {
				return false
			}
		}
		return true
	})
	e.Heal()
	awaitServing(t, e)

	leader := awaitLeader(t, e)
	leader.Kill()
	if next := awaitLeader(t, e); next == leader {
		t.Fatalf("after the leader's death: %v", next)
	}
	leader.Start()
	await.Until(t, patience, "the old leader to come back as a follower", func() bool { return leader.Role() == "follower" })
	e.Restart(func(c *zookeeper.EnsembleConfig) { c.MaxSessionTimeout = 7 * time.Second })
	for _, m := range e.Members() {
		if conf := m.FourLetter("conf"); !strings.Contains(conf, "maxSessionTimeout=7000\n") {
			t.Errorf("server %d kept its old configuration:\n%s", m.ID(), conf)
		}
	}
}

func TestFiveServersSurviveTheLossOfTwo(t *testing.T) {
	t.Parallel()
	e := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Servers: 5})
	first := awaitLeader(t, e)
	first.Freeze()
	second := awaitLeader(t, e)
	e.Peers(second).Cut()
	var third *zookeeper.Member
	await.Until(t, patience, "a third leader", func() bool {
		third = awaitLeader(t, e)
		return third != second
	})
	if third == first {
		t.Fatalf("the third leader is %v", third)
	}
	first.Unfreeze()
	e.Heal()
	awaitServing(t, e)
}

// awaitLeader waits until a server leads.
func awaitLeader(t *testing.T, e *zookeeper.Ensemble) *zookeeper.Member {
	t.Helper()
	leader := e.Leader()
	if leader == nil {
		t.FailNow()
	}
	return leader
}

// awaitServing waits until every server serves.
func awaitServing(t *testing.T, e *zookeeper.Ensemble) {
	t.Helper()
	if !e.AwaitServing() {
		t.FailNow()
	}
}

func TestAnEnsembleOfOneIsAServer(t *testing.T) {
	t.Parallel()
	e := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Servers: 1})
	await.Until(t, patience, "the server to say that it stands alone", func() bool { return e.Members()[0].Role() == "standalone" })
}

func TestLinksDoToConnectionsWhatNetworksDo(t *testing.T) {
	t.Parallel()
	e := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Servers: 1})
	route := e.Members()[0].Route()
	dial := func(t *testing.T) net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", route.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	connected := func(t *testing.T) net.Conn {
		t.Helper()
		conn := dial(t)
		await.Until(t, patience, "the connection to reach the server", func() bool { return route.Carries(conn) })
		return conn
	}
	// A question is four letters, and ends the connection with its answer.
	const moment = 300 * time.Millisecond
	put := func(t *testing.T, conn net.Conn) {
		t.Helper()
		if _, err := io.WriteString(conn, "ruok"); err != nil {
			t.Fatal(err)
		}
	}
	const ample = time.Minute
	hears := func(t *testing.T, conn net.Conn, within time.Duration) (string, error) {
		t.Helper()
		if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if within == ample && len(answer) == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			await.Fatalf(t, "an answer, or the end of the connection: %v", err)
		}
		return string(answer), err
	}

	t.Run("whole", func(t *testing.T) {
		conn := dial(t)
		put(t, conn)
		if answer, err := hears(t, conn, ample); answer != "imok" {
			t.Errorf("%q, %v", answer, err)
		}
	})
	t.Run("delayed", func(t *testing.T) {
		route.Delay(moment)
		defer route.Heal()
		conn := dial(t)
		begun := time.Now()
		put(t, conn)
		if answer, err := hears(t, conn, ample); answer != "imok" || time.Since(begun) < 2*moment {
			t.Errorf("%q, %v after %v", answer, err, time.Since(begun))
		}
	})
	t.Run("frozen", func(t *testing.T) {
		for _, direction := range []zookeeper.Links{route.Links, route.ToServer, route.FromServer} {
			conn := connected(t)
			direction.Freeze()
			put(t, conn)
			if answer, err := hears(t, conn, moment); answer != "" || err == nil {
				t.Errorf("over a frozen link: %q, %v", answer, err)
			}
			direction.Heal()
			if answer, err := hears(t, conn, ample); answer != "imok" {
				t.Errorf("after healing: %q, %v", answer, err)
			}
		}
	})
	t.Run("cut", func(t *testing.T) {
		old := connected(t)
		route.Cut()
		put(t, old)
		young := dial(t)
		put(t, young)
		await.Until(t, patience, "the young connection to come", func() bool { return route.Dooms(young) })
		for _, conn := range []net.Conn{old, young} {
			if answer, err := hears(t, conn, moment); answer != "" || err == nil {
				t.Errorf("over a link that is cut: %q, %v", answer, err)
			}
		}
		route.Heal()
		for _, conn := range []net.Conn{old, young} {
			if answer, err := hears(t, conn, ample); answer != "" || err == nil {
				t.Errorf("after healing, on a connection from before: %q, %v", answer, err)
			}
		}
		conn := dial(t)
		put(t, conn)
		if answer, err := hears(t, conn, ample); answer != "imok" {
			t.Errorf("%q, %v", answer, err)
		}
	})
	t.Run("reset", func(t *testing.T) {
		conn := connected(t)
		route.Reset()
		if answer, err := hears(t, conn, ample); answer != "" || err == nil {
			t.Errorf("%q, %v", answer, err)
		}
	})
}
