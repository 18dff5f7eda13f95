package commands

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/internal/run"
	"github.com/gocurator/curator/examples/zklock/internal/servers"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/dnstest"
	"github.com/gocurator/curator/recipes/locks"
)

// The client is connected, and the records that it had are gone.
func TestCommandsShowLocksAlthoughDNSFails(t *testing.T) {
	var dns dnstest.Server
	dns.ResolveUDP(t)
	const connect = "dns-srv://_client._tcp.zk.example."
	server := zktest.New(t)
	client, err := framework.NewClient(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	mutex := locks.NewInterProcessMutex(client, "/locks/a", locks.WithLockData([]byte("billing")))
	if _, err := mutex.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		declare func(set *flag.FlagSet) *looker
		paths   []string
		json    bool
		status  int
		want    []string
	}{
		"who": {newWho, []string{"/locks/a"}, false, 0, []string{
			"holds ", "billing", "Whether their clients live is not known. The servers were not asked: SRV records of _client._tcp.zk.example.:",
		}},
		"who -json": {newWho, []string{"/locks/a"}, true, 0, []string{
			`"who": "billing"`, `"state": "unknown"`, `"servers": []`, `"servers_error": "SRV records of _client._tcp.zk.example.:`,
		}},
		"doctor": {newDoctor, nil, false, ExitFound, []string{
			"WRONG DNS: the servers were not looked at: SRV records of _client._tcp.zk.example.:", "OK /: 1 lock was looked at",
		}},
	} {
		set := flag.NewFlagSet(name, flag.ContinueOnError)
		l, config := c.declare(set), servers.Flags(set)
		if err := set.Parse([]string{"-zk", connect}); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err := l.do(t.Context(), &scene{client, config, c.paths, c.json, &out})
		code, status := 0, new(statusError)
		if errors.As(err, &status) {
			code, err = status.code, nil
		}
		if err != nil || code != c.status {
			t.Errorf("%s: got status %d, %v, want %d", name, code, err, c.status)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: got %s\nwant %q in it", name, text, want)
			}
		}
	}
	var out, errs bytes.Buffer
	for _, c := range All() {
		if c.Name != "doctor" {
			continue
		}
		code := c.Main([]string{"-zk", connect, "-connect-timeout", "100ms"}, &out, &errs)
		if text := out.String(); code != run.ExitUnreachable || !strings.Contains(text, "WRONG     DNS: ") || !strings.Contains(text, "UNKNOWN   /: ") {
			t.Errorf("without a server got status %d, %q, %q, want %d and two findings", code, text, errs.String(), run.ExitUnreachable)
		}
	}
}
