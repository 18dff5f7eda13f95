//go:build linux

package zklock_test

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	client := connect(t, server.Addr())
	for _, path := range []string{"/locks/a", "/locks/b"} {
		if _, err := locks.NewInterProcessMutex(client, path).Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantOutput(t, server.Addr(), 0, []string{"2 locks were looked at", "tick 100ms"}, "doctor")
	wantOutput(t, server.Addr(), 0, []string{"stands at 2 locks"}, "doctor", "-many", "2")
	brief := zktest.New(t, zktest.WithSessionTimeouts(time.Second, 20*time.Second))
	wantOutput(t, server.Addr()+","+brief.Addr(), 0, []string{
		"LOOK      servers: they grant sessions of different lengths", "LOOK      " + brief.Addr() + ": it grants sessions of 20s at most",
	}, "doctor")
	for _, name := range []string{"/locks/a/0", "/locks/a/_c_ba785fd9-44cb-4a14-8cfd-2b3b5c2badb3-__WRIT__0000000009"} {
		if err := server.Create(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	wantOutput(t, server.Addr(), 1, []string{"2 locks were looked at, and nothing was found about 1 of them"}, "doctor", "/locks")
	server.SetCreateCounter("/locks/b", 1<<31-100)
	wantOutput(t, server.Addr(), 1, []string{
		`child "0" is no contender`, "two kinds of lock", "is no ephemeral node", "counter is at its end",
	}, "doctor", "/locks")
}

// refusing returns an address at which nothing listens.
func refusing(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func TestDoctorNamesServersThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	live, frozen, dead := zktest.New(t), zktest.New(t), refusing(t)
	frozen.Freeze()
	defer frozen.Unfreeze()
	wantOutput(t, live.Addr()+","+dead, 1, []string{
		"WRONG     " + dead + ": does not answer: connection refused", "OK        /: 0 locks were looked at", "OK        " + live.Addr() + ": ZooKeeper",
	}, "doctor", "-answer-within", "1m")
	none := []string{
		"WRONG     " + dead + ": does not answer: connection refused", "WRONG     " + frozen.Addr() + ": does not answer: it is silent for 1s",
		"UNKNOWN   /: its locks were not looked at: no server serves clients",
	}
	wantOutput(t, frozen.Addr()+","+dead, 69, none, "doctor", "-answer-within", "1s")
	stdout, _, status := zklock(t, frozen.Addr()+","+dead, "doctor", "-json", "-answer-within", "1s")
	var found []struct{ Level, About, What, Advice string }
	if err := json.Unmarshal([]byte(stdout), &found); err != nil || len(found) != 3 || status != 69 {
		t.Errorf("got status %d, %v, %+v, want 69 and three findings", status, err, found)
	}
	wantOutput(t, dead, 69, []string{"no server could be used within 1s; " + dead + ": does not answer: connection refused"},
		"who", "-connect-timeout", "1s", "/locks/a")
	wantOutput(t, dead, 64, []string{"-answer-within 0s: want a time that is not zero"}, "doctor", "-answer-within", "0s")
}

func TestDoctorNamesTheFaultsOfAServersRelease(t *testing.T) {
	t.Parallel()
	for version, c := range map[string]struct{ level, fault string }{
		"3.8.6": {"look", "ZOOKEEPER-4712"}, "3.8.7": {"unknown", "ZOOKEEPER-4712"}, "3.9.3": {"look", "ZOOKEEPER-4925"}, "3.9.4": {},
	} {
		want := c.fault
		server := zktest.New(t, zktest.WithVersion(version))
		stdout, stderr, status := zklock(t, server.Addr(), "doctor", "-json")
		var findings []struct{ Level, About, What, Advice string }
		if err := json.Unmarshal([]byte(stdout), &findings); err != nil {
			t.Fatalf("%s: %v in %s%s", version, err, stdout, stderr)
		}
		got, advice := "", ""
		for _, f := range findings {
			if f.Level != "ok" {
				got, advice = got+f.Level+" "+f.About+": "+f.What, advice+f.Advice
			}
		}
		if want == "" && got != "" || !strings.Contains(got, want) || status != 0 {
			t.Errorf("doctor at a server %s: got status %d, %q, want status 0, and %q", version, status, got, want)
		}
		if want != "" && (!strings.HasPrefix(got, c.level+" "+server.Addr()) || !strings.Contains(advice, "3.9.4 or later; no release of 3.8")) {
			t.Errorf("doctor at a server %s: got %q with the advice %q, want level %s for %s, and which release to take",
				version, got, advice, c.level, server.Addr())
		}
	}
}

func TestOnRealServersDoctorReadsTheirSettings(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	want := []string{"ZooKeeper " + zookeeper.Version(), "standalone", "tick 100ms"}
	if strings.HasPrefix(zookeeper.Version(), "3.8.") {
		want = append(want, "LOOK", "ZOOKEEPER-4712")
	}
	wantOutput(t, server.Addr(), 0, want, "doctor")
	holder := start(t, server.Addr(), with([]string{"-data", "billing", "/locks/a"}, script("exec sleep 1000")...)...)
	holder.await("started")
	wantOutput(t, server.Addr(), 0, []string{"billing"}, "who", "/locks/a")
	weak := zookeeper.Start(t, zookeeper.Config{Properties: map[string]string{"minSessionTimeout": "100"}})
	wantOutput(t, weak.Addr(), 1, []string{"less than two ticks"}, "doctor")
}
