package dnstest_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/zktest/dnstest"
)

func TestResolverReadsTheRecordsThatAreSet(t *testing.T) {
	for name, resolve := range map[string]func(s *dnstest.Server, t *testing.T){
		"in memory": (*dnstest.Server).Resolve,
		"over UDP":  (*dnstest.Server).ResolveUDP,
	} {
		t.Run(name, func(t *testing.T) {
			var server dnstest.Server
			resolve(&server, t)
			before := server.Asked()
			server.SetSRV("_x._tcp.a.example.", net.SRV{Target: "b.example.", Port: 7, Priority: 1, Weight: 2})
			server.SetA("b.example.", net.IPv4(10, 1, 2, 3))
			_, records, err := net.DefaultResolver.LookupSRV(t.Context(), "", "", "_x._tcp.a.example.")
			if err != nil || len(records) != 1 || *records[0] != (net.SRV{Target: "b.example.", Port: 7, Priority: 1, Weight: 2}) {
				t.Errorf("got %v, %v, want one record", records, err)
			}
			addresses, err := net.DefaultResolver.LookupHost(t.Context(), "b.example.")
			if err != nil || len(addresses) != 1 || addresses[0] != "10.1.2.3" {
				t.Errorf("got %v, %v, want 10.1.2.3", addresses, err)
			}
			if got := server.Asked() - before; got != 3 { // SRV, A and AAAA
				t.Errorf("got %d questions, want 3", got)
			}
			server.Forget()
			if _, _, err := net.DefaultResolver.LookupSRV(t.Context(), "", "", "_x._tcp.a.example."); err == nil {
				t.Error("got records of a name that the server has forgotten")
			}
		})
	}
}

func TestServerKnowsAllNamesThatAreSet(t *testing.T) {
	var server dnstest.Server
	server.ResolveUDP(t)
	for i, name := range []string{"a.example.", "b.example.", "C.example."} {
		server.SetSRV("_x._tcp."+name, net.SRV{Target: name, Port: uint16(i)})
		server.SetA(name, net.IPv4(10, 0, 0, byte(i)))
	}
	server.SetA("a.example.", net.IPv4(10, 0, 0, 9)) // instead of the first one
	for i, name := range []string{"a.example.", "b.example.", "C.example."} {
		_, records, err := net.DefaultResolver.LookupSRV(t.Context(), "", "", "_x._tcp."+name)
		if err != nil || len(records) != 1 || *records[0] != (net.SRV{Target: name, Port: uint16(i)}) {
			t.Errorf("%s: got %v, %v, want its record", name, records, err)
		}
		want := []string{"10.0.0.9", "10.0.0.1", "10.0.0.2"}[i]
		addresses, err := net.DefaultResolver.LookupHost(t.Context(), name)
		if err != nil || len(addresses) != 1 || addresses[0] != want {
			t.Errorf("%s: got %v, %v, want %s", name, addresses, err, want)
		}
	}
}

func TestServerRefusesWhatItCannotAnswer(t *testing.T) {
	long := strings.Repeat("a", 64)
	var server dnstest.Server
	for name, c := range map[string]struct {
		set  func()
		want string
	}{
		"an IPv6 address":          {func() { server.SetA("a.", net.IPv6loopback) }, "::1 is no IPv4 address"},
		"no address":               {func() { server.SetA("a.", nil) }, "is no IPv4 address"},
		"a long label":             {func() { server.SetSRV(long + ".") }, "has 64 bytes"},
		"a long label of a host":   {func() { server.SetA("a."+long+".", net.IPv4zero) }, "has 64 bytes"},
		"a long label of a target": {func() { server.SetSRV("a.", net.SRV{Target: long + "."}) }, "has 64 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "dnstest: ") || !strings.Contains(got, c.want) {
					t.Errorf("got panic %q, want %q in it", got, c.want)
				}
			}()
			c.set()
		})
	}
}
