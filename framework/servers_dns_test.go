package framework_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/dnstest"
)

const srvName = "_client._tcp.zk.example."

func record(target string, port uint16) net.SRV {
	return net.SRV{Target: target, Port: port, Weight: 50}
}

// The records change while the client is connected, and it goes by them when it needs another server.
func TestSRVRecordsAreLookedUpAtEachAttempt(t *testing.T) {
	var dns dnstest.Server
	dns.Resolve(t)
	zktest.Bubble(t, func(t *testing.T) {
		dns.SetSRV(srvName, record("old.example.", 2181))
		ensemble := zktest.NewEnsemble(2)
		defer ensemble.Close()
		first, second := ensemble.Server(0).NewLink(), ensemble.Server(1).NewLink()
		client, err := framework.NewClient("dns-srv://"+srvName, framework.WithSessionTimeout(clienttest.SessionTimeout),
			byName(map[string]*zktest.Link{"old.example.:2181": first, "new.example.:2999": second}))
		must(t, err)
		defer client.Close()
		must(t, client.BlockUntilConnected(t.Context()))
		s, _ := client.Session(t.Context())
		asked := dns.Asked()
		dns.SetSRV(srvName, record("new.example.", 2999))
		time.Sleep(time.Hour)
		if got := client.Server(); got != "old.example.:2181" || dns.Asked() != asked {
			t.Errorf("connected, got %q and %d questions, want old.example. and none", got, dns.Asked()-asked)
		}
		first.Cut()
		for client.Server() != "new.example.:2999" {
			time.Sleep(time.Second)
		}
		if now, err := client.Session(t.Context()); now != s {
			t.Errorf("got session %v, %v, want %v", now, err, s)
		}
	})
}

func TestALookupOfSRVRecordsThatFailsLeavesTheLastServers(t *testing.T) {
	many := make([]net.SRV, 101)
	for i := range many {
		many[i] = record(fmt.Sprintf("zk%d.example.", i), 2181)
	}
	for name, c := range map[string]struct {
		fail func(dns *dnstest.Server)
		want string
	}{
		"no such name":     {(*dnstest.Server).Forget, "no such host"},
		"no records":       {func(dns *dnstest.Server) { dns.SetSRV(srvName) }, "no such host"},
		"a failed server":  {(*dnstest.Server).Fail, "server misbehaving"},
		"a silent server":  {(*dnstest.Server).Mute, "timeout"},
		"no port":          {func(dns *dnstest.Server) { dns.SetSRV(srvName, record("a.example.", 1), record("b.example.", 0)) }, "port must be a number"},
		"no service":       {func(dns *dnstest.Server) { dns.SetSRV(srvName, record(".", 1)) }, "no such service"},
		"a malformed name": {func(dns *dnstest.Server) { dns.SetSRV(srvName, record("a.example.", 1), record("b c.example.", 1)) }, "invalid"},
		"too many":         {func(dns *dnstest.Server) { dns.SetSRV(srvName, many...) }, "there are 101, more than the 100 that are taken"},
	} {
		t.Run(name, func(t *testing.T) {
			var dns dnstest.Server
			dns.Resolve(t)
			zktest.Bubble(t, func(t *testing.T) {
				dns.SetSRV(srvName, record("zk.example.", 2181))
				w := &env{&clienttest.Env{T: t, Server: zktest.New(t)}}
				w.Make("/app")
				w.Link = w.Server.NewLink()
				client := w.Dial("dns-srv://"+srvName+"/app", byName(map[string]*zktest.Link{"zk.example.:2181": w.Link}))
				must(t, client.BlockUntilConnected(t.Context()))
				c.fail(&dns)
				w.Link.Cut()
				w.Eventually("suspended", func() bool { return !client.State().IsConnected() })
				err := client.BlockUntilConnected(w.Within(20 * time.Second)) // Go's resolver asks twice, for five seconds
				var unreachable *framework.ConnectError
				if !errors.As(err, &unreachable) || unreachable.Servers["zk.example.:2181"] == nil {
					t.Fatalf("got %v, want an error of the last server, too", err)
				}
				list := unreachable.Servers["list of servers"]
				if list == nil || !strings.Contains(list.Error(), c.want) || !strings.Contains(list.Error(), srvName) {
					t.Errorf("got %v of the list, want %q and the name in it", list, c.want)
				}
				w.Link.Heal()
				wantErr(t, client.BlockUntilConnected(w.Within(time.Minute)))
				wantErr(t, client.Close())
				time.Sleep(time.Minute) // a look-up lasts until its deadline
			})
		})
	}
}

// A program may start before the servers' records are there.
func TestAClientWithoutSRVRecordsNamesThemAndWaits(t *testing.T) {
	var dns dnstest.Server
	dns.Resolve(t)
	zktest.Bubble(t, func(t *testing.T) {
		w := &env{&clienttest.Env{T: t, Server: zktest.New(t)}}
		w.Link = w.Server.NewLink()
		client := w.Dial("dns-srv://"+srvName, byName(map[string]*zktest.Link{"zk.example.:2181": w.Link}))
		err := client.BlockUntilConnected(w.Within(5 * time.Second))
		if want := "SRV records of " + srvName; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
		dns.SetSRV(srvName, record("zk.example.", 2181))
		wantErr(t, client.BlockUntilConnected(w.Within(5*time.Second)))
	})
}

// Sockets, Go's resolver, and a server whose name is looked up as well.
func TestSRVRecordsOfADNSServerLeadToAServer(t *testing.T) {
	var dns dnstest.Server
	dns.ResolveUDP(t)
	server := zktest.New(t)
	address, err := net.ResolveTCPAddr("tcp", server.Addr())
	must(t, err)
	dns.SetSRV(srvName, record("zk-0.example.", uint16(address.Port)))
	dns.SetA("zk-0.example.", net.IPv4(127, 0, 0, 1))
	client, err := framework.NewClient("dns-srv://" + srvName)
	must(t, err)
	defer client.Close()
	must(t, client.BlockUntilConnected(t.Context()))
	if got, want := client.Server(), fmt.Sprintf("zk-0.example.:%d", address.Port); got != want {
		t.Errorf("got server %q, want %q", got, want)
	}
}

func TestMistakesInANameOfSRVRecordsAreNamed(t *testing.T) {
	const form = ": write dns-srv://_client._tcp.zk.example.org/chroot"
	const noName = ": not a DNS name, which has letters, and may have digits, hyphens, underscores and dots" + form
	const anIP = ": it is an IP address, which has no SRV records" + form
	long := strings.Repeat("a", 64) + ".example"
	for connect, want := range map[string]string{
		"dns-srv://":                  `connect string names SRV records of "": the name is empty` + form,
		"dns-srv:///app":              `connect string names SRV records of "": the name is empty` + form,
		"dns-srv://zk.example:2181":   `connect string names SRV records of "zk.example:2181": ports stand in the records` + form,
		"dns-srv://a.example,b:2181":  `connect string names SRV records of "a.example,b:2181": only one name is looked up` + form,
		"dns-srv://a..example":        `connect string names SRV records of "a..example"` + noName,
		"dns-srv://a.example?x":       `connect string names SRV records of "a.example?x"` + noName,
		"dns-srv://é.example":         `connect string names SRV records of "é.example"` + noName,
		"dns-srv://-a.example":        `connect string names SRV records of "-a.example"` + noName,
		"dns-srv://2181":              `connect string names SRV records of "2181"` + noName,
		"dns-srv://" + long:           `connect string names SRV records of "` + long + `"` + noName,
		"dns-srv://10.0.0.1/app":      `connect string names SRV records of "10.0.0.1"` + anIP,
		"dns-srv://10.0.0.1:2181":     `connect string names SRV records of "10.0.0.1:2181"` + anIP,
		"dns-srv://[::1]":             `connect string names SRV records of "[::1]"` + anIP,
		"dns-srv://[::1]:2181":        `connect string names SRV records of "[::1]:2181"` + anIP,
		"dns-srv://a.example/b/":      `chroot "/b/": `,
		"dns-srv://u:secret@a":        "connect string names a user before an @: ",
		"dns-srv://u:sec/ret@a":       "connect string names a user before an @: ",
		"a:2181,dns-srv://zk.example": `connect string has a URL that begins with "dns-srv://": `,
	} {
		_, err := framework.NewClient(connect)
		if err == nil || !strings.HasPrefix(err.Error(), "framework: invalid client: "+want) {
			t.Errorf("%q:\ngot  %v\nwant framework: invalid client: %s", connect, err, want)
		}
	}
	_, err := framework.NewClient("dns-srv://zk.example", framework.WithServers(new(directory).servers))
	if want := "WithServers"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("with two lists got %v, want %s", err, want)
	}
}
