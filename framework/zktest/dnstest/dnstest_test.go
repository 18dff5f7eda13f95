package dnstest_test

import (
	"net"
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
