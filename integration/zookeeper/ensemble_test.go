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

	"github.com/gocurator/curator/integration/zookeeper"
)

func TestEveryLinkOfAnEnsembleCanBeCut(t *testing.T) {
	t.Parallel()
	e := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Servers: 3, Observers: 1})
	// They may look for a leader once more after they have served, if the machine is busy.
	await(t, "one leads, two follow, and the last observes", func() bool {
		leader, followers := e.Settled()
		return leader != nil && len(followers) == 2 && e.Members()[3].Role() == "observer"
	})

	// If a single connection went past the proxies, a client would go on.
	for _, m := range e.Members() {
		e.Peers(m).Cut()
	}
	await(t, "without links there is no ensemble", func() bool {
		for _, m := range e.Members() {
			if m.Role() != "" {
				return false
			}
		}
		return true
	})
	e.Heal()
	e.AwaitServing()

	leader := e.Leader()
	leader.Kill()
	if next := e.Leader(); next == leader || next == nil {
		t.Fatalf("after the leader's death: %v", next)
	}
	leader.Start()
	await(t, "the old leader is back as a follower", func() bool { return leader.Role() == "follower" })
	e.Restart(func(c *zookeeper.EnsembleConfig) { c.MaxSessionTimeout = 7 * time.Second })
	for _, m := range e.Members() {
		if conf := m.FourLetter("conf"); !strings.Contains(conf, "maxSessionTimeout=7000\n") {
			t.Errorf("server %d was not configured anew:\n%s", m.ID(), conf)
		}
	}
}

func TestFiveServersSurviveTheLossOfTwo(t *testing.T) {
	t.Parallel()
	e := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Servers: 5})
	first := e.Leader()
	first.Freeze()
	second := e.Leader()
	e.Peers(second).Cut()
	var third *zookeeper.Member
	await(t, "a third leader", func() bool {
		third = e.Leader()
		return third != second
	})
	if third == nil || third == first {
		t.Fatalf("the third leader is %v", third)
	}
	first.Thaw()
	e.Heal()
	e.AwaitServing()
}

func TestAnEnsembleOfOneIsAServer(t *testing.T) {
	t.Parallel()
	e := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Servers: 1})
	await(t, "the server says that it is alone", func() bool { return e.Members()[0].Role() == "standalone" })
}

func TestLinksDoToConnectionsWhatNetworksDo(t *testing.T) {
	t.Parallel()
	e := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Servers: 1})
	route := e.Members()[0].Route()
	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", route.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	connected := func() net.Conn {
		t.Helper()
		conn := dial()
		await(t, "the connection goes on to the server", func() bool { return route.Carries(conn) })
		return conn
	}
	// A question is four letters, and ends the connection with its answer.
	const moment = 300 * time.Millisecond
	put := func(conn net.Conn) {
		t.Helper()
		if _, err := io.WriteString(conn, "ruok"); err != nil {
			t.Fatal(err)
		}
	}
	hears := func(conn net.Conn, within time.Duration) (string, error) {
		t.Helper()
		if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		return string(answer), err
	}
	const ample = time.Minute
	broken := func(err error) bool { return err != nil && !errors.Is(err, os.ErrDeadlineExceeded) }

	t.Run("whole", func(t *testing.T) {
		conn := dial()
		put(conn)
		if answer, err := hears(conn, ample); answer != "imok" {
			t.Errorf("%q, %v", answer, err)
		}
	})
	t.Run("delayed", func(t *testing.T) {
		route.Delay(moment)
		defer route.Heal()
		conn := dial()
		begun := time.Now()
		put(conn)
		if answer, err := hears(conn, ample); answer != "imok" || time.Since(begun) < 2*moment {
			t.Errorf("%q, %v after %v", answer, err, time.Since(begun))
		}
	})
	t.Run("frozen", func(t *testing.T) {
		for _, direction := range []zookeeper.Links{route.Links, route.ToServer, route.FromServer} {
			conn := connected()
			direction.Freeze()
			put(conn)
			if answer, err := hears(conn, moment); answer != "" || err == nil {
				t.Errorf("over a frozen link: %q, %v", answer, err)
			}
			direction.Heal()
			if answer, err := hears(conn, ample); answer != "imok" {
				t.Errorf("after healing: %q, %v", answer, err)
			}
		}
	})
	t.Run("cut", func(t *testing.T) {
		old := connected()
		route.Cut()
		put(old)
		young := dial()
		put(young)
		await(t, "the young connection has come", func() bool { return route.Dooms(young) })
		for _, conn := range []net.Conn{old, young} {
			if answer, err := hears(conn, moment); answer != "" || err == nil {
				t.Errorf("over a link that is cut: %q, %v", answer, err)
			}
		}
		route.Heal()
		for _, conn := range []net.Conn{old, young} {
			if answer, err := hears(conn, ample); answer != "" || !broken(err) {
				t.Errorf("after healing, on a connection from before: %q, %v", answer, err)
			}
		}
		conn := dial()
		put(conn)
		if answer, err := hears(conn, ample); answer != "imok" {
			t.Errorf("%q, %v", answer, err)
		}
	})
	t.Run("reset", func(t *testing.T) {
		conn := connected()
		route.Reset()
		if answer, err := hears(conn, ample); answer != "" || !broken(err) {
			t.Errorf("%q, %v", answer, err)
		}
	})
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}
