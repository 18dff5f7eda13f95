//go:build unix

package pages_test

import (
	"bytes"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/programs/process"
	"github.com/gocurator/curator/framework/zktest"
)

// Lines of README.md's program: the one with the servers, and another one that the page offers for it.
const (
	servers  = "\tconst servers = \"zk1:2181,zk2:2181,zk3:2181\""
	inMemory = "servers := zktest.NewServer().Addr()"
)

// changed is README.md's program with one text instead of another.
func changed(t *testing.T, program, from, to string) string {
	t.Helper()
	if strings.Count(program, from) != 1 {
		t.Fatalf("got %d times %q in the program, want one", strings.Count(program, from), from)
	}
	return strings.Replace(program, from, to, 1)
}

func TestProgramOfREADMEReleasesTheLockAtSIGTERM(t *testing.T) {
	server := zktest.NewServer()
	defer server.Close()
	binary := compile(t, changed(t, theProgram(t), servers, `const servers = "`+server.Addr()+`"`))
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
	if !bytes.Contains(contents(t, "../README.md"), []byte(inMemory)) {
		t.Errorf("README.md does not offer %s", inMemory)
	}
	program := changed(t, theProgram(t), servers, inMemory)
	program = changed(t, program, "/framework\"\n", "/framework\"\n\t\"github.com/gocurator/curator/framework/zktest\"\n")
	terminate(t, compile(t, program), func() {})
}

func TestProgramOfREADMESaysWhyItNeverHadTheLock(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0") // an address at which nothing listens
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	program := changed(t, theProgram(t), servers, `const servers = "`+closed.Addr().String()+`"`)
	program = changed(t, program, "framework.WithLogger(", "framework.WithConnectionTimeout(50_000_000), framework.WithLogger(")
	p := start(t, compile(t, program))
	for _, want := range []string{"connection refused", "ended: "} {
		p.Await(want)
	}
	if got := p.Wait(); got != 1 {
		t.Errorf("got status %d, want 1", got)
	}
}

// start runs the program, whose log counts as its output.
func start(t *testing.T, binary string) *process.Process {
	t.Helper()
	return process.StartCommand(t, exec.Command("sh", "-c", `exec "$0" 2>&1`, binary))
}

// terminate runs the program, sends SIGTERM when it holds the lock, and wants it to end in order.
func terminate(t *testing.T, binary string, holding func()) {
	t.Helper()
	p := start(t, binary)
	p.Await("holding the lock")
	holding()
	p.Signal(syscall.SIGTERM)
	p.Await("ended: ")
	if got := p.Wait(); got != 0 {
		t.Errorf("got status %d, want 0", got)
	}
}
