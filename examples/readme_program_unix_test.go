//go:build unix

package examples_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/internal/process"
	"github.com/gocurator/curator/framework/zktest"
)

// servers is the connect string of README.md's program.
const servers = `"zk1:2181,zk2:2181,zk3:2181"`

func TestProgramOfREADMEReleasesTheLockAtSIGTERM(t *testing.T) {
	server := zktest.NewServer()
	defer server.Close()
	program := theProgram(t)
	if strings.Count(program, servers) != 1 {
		t.Fatalf("got %d times %s in the program, want one", strings.Count(program, servers), servers)
	}
	binary := compile(t, strings.Replace(program, servers, `"`+server.Addr()+`"`, 1))
	terminate(t, binary, func() {
		if got := len(server.Children("/locks/nightly")); got != 1 {
			t.Errorf("got %d lock nodes while the program holds, want 1", got)
		}
	})
	// A client waits for the answer to its end for a second; a server that is slower reads the request later. Without
	// one the session would last for a minute.
	nodes, sessions := server.Children("/locks/nightly"), server.Sessions()
	for end := time.Now().Add(30 * time.Second); len(nodes)+len(sessions) > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		nodes, sessions = server.Children("/locks/nightly"), server.Sessions()
	}
	if len(nodes)+len(sessions) > 0 {
		t.Errorf("got lock nodes %v and sessions %v after SIGTERM, want none", nodes, sessions)
	}
}

func TestProgramOfREADMERunsOnAServerInMemory(t *testing.T) {
	program := theProgram(t)
	line := "\tclient, err := framework.NewClient(" + servers + ") // one client is enough for a process\n"
	changed := strings.Replace(program, line, inMemory, 1)
	if changed == program {
		t.Fatalf("no line %q in the program", line)
	}
	changed = strings.Replace(changed, "/framework\"\n", "/framework\"\n\t\"github.com/gocurator/curator/framework/zktest\"\n", 1)
	terminate(t, compile(t, changed), func() {})
}

// terminate runs the program, sends SIGTERM when it holds the lock, and wants it to end in order.
func terminate(t *testing.T, binary string, holding func()) {
	t.Helper()
	p := process.Start(t, binary)
	if got, want := p.Await(""), "holding the lock"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q as the first line, want %q", got, want)
	}
	holding()
	p.Signal(syscall.SIGTERM)
	p.Await("ended: ")
	if got := p.Wait(); got != 0 {
		t.Errorf("got status %d, want 0", got)
	}
}
