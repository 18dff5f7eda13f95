//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/examples/programs/process"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/locks"
)

const path = "/examples/contention" // the lock's, if no flag says another one

func clientOf(t *testing.T, server *zktest.Server) *framework.Client {
	t.Helper()
	client, err := framework.NewClient(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// awaitQueue waits until so many nodes stand in the lock's queue. It returns what stands there at the end of the limit
// or before.
func awaitQueue(t *testing.T, client *framework.Client, want int, limit time.Duration) (nodes []string, ok bool) {
	t.Helper()
	ok = await.Within(limit, func() bool {
		var err error
		if nodes, _, err = client.Children(t.Context(), path); err != nil && !errors.Is(err, zk.ErrNoNode) {
			t.Fatal(err)
		}
		return len(nodes) == want
	})
	return nodes, ok
}

// together runs one process for each list of arguments on one server, and returns what all of them recorded. The lock
// is taken until all their workers stand in its queue. Its directory is no container: the servers would remove a
// container when one process is done before the next one begins, and numbers would start at 0 again.
func together(t *testing.T, workers int, arguments ...[]string) (records []record) {
	t.Helper()
	server := zktest.New(t)
	binary := programs.Build(t)
	client := clientOf(t, server)
	if _, _, err := client.Create(t.Context(), path, nil, framework.CreatingParentsIfNeeded()); err != nil {
		t.Fatal(err)
	}
	taken, err := locks.NewInterProcessMutex(client, path).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var processes []*exec.Cmd
	for _, args := range arguments {
		p := programs.Command(t, binary, append([]string{"-json", "-zk", server.Addr()}, args...)...)
		p.Stdout, p.Stderr = new(bytes.Buffer), os.Stderr
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		processes = append(processes, p)
	}
	if nodes, ok := awaitQueue(t, client, 1+workers, time.Minute); !ok {
		await.Fatalf(t, "%d nodes in the queue, got %v", 1+workers, nodes)
	}
	if err := taken.Release(); err != nil {
		t.Error(err)
	}
	for _, p := range processes {
		if err := p.Wait(); err != nil {
			t.Errorf("process %d: %v", p.Process.Pid, err)
		}
		records = append(records, decode(t, p.Stdout.(*bytes.Buffer).Bytes())...)
	}
	return records
}

// mixed counts how often the lock went from one process to another.
func mixed(turns []turn) (n int) {
	for i := 1; i < len(turns); i++ {
		if turns[i].acquired.PID != turns[i-1].acquired.PID {
			n++
		}
	}
	return n
}

func TestFourProcessesHoldOneAfterTheOther(t *testing.T) {
	t.Parallel()
	args := []string{"-workers=5", "-rounds=20", "-hold=2ms", "-session=30s"}
	got := turns(t, together(t, 4*5, args, args, args, args))
	if want := 4 * 5 * 20; len(got) != want {
		t.Errorf("%d holds, want %d", len(got), want)
	}
	if mixed(got) == 0 {
		t.Error("the processes did not contend with each other")
	}
	t.Logf("%d holds, %d from one process to another", len(got), mixed(got))
}

func TestCrashedProcessLosesTheLockBeforeAnotherIsLetIn(t *testing.T) {
	t.Parallel()
	// the session of a worker that the machine holds up must not end, too
	args := []string{"-workers=3", "-rounds=5", "-hold=10ms", "-session=20s"}
	got := turns(t, together(t, 4*3, args, args, args, append(slices.Clone(args), "-crash=2")))
	if want := 3*3*5 + 2*5 + 1; len(got) != want {
		t.Errorf("%d holds, want %d", len(got), want)
	}
	at := lossAt(t, got)
	if at+1 == len(got) {
		t.Fatal("no worker got the lock after the loss")
	}
	end, next := got[at].end, got[at+1].acquired
	t.Logf("lost after %v, let in %v later", end.Time.Sub(got[at].acquired.Time), next.Time.Sub(end.Time))
	if next.Time.Before(end.Time) {
		t.Errorf("let in %v before the loss", end.Time.Sub(next.Time))
	}
}

func TestInterruptedProcessLetsGo(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	binary := programs.Build(t)
	p := process.Start(t, binary, "-zk", server.Addr(), "-workers=2", "-hold=1h", "-session=50s")
	p.Await("waits for") // so the other holds
	p.Signal(os.Interrupt)
	if got, want := p.Await("interrupted"), "interrupted"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := p.Wait(); got != 130 {
		t.Errorf("got status %d, want 130", got)
	}
	// a client waits for the answer to its end for a second; without one its nodes would stay for 50
	if nodes, ok := awaitQueue(t, clientOf(t, server), 0, 30*time.Second); !ok {
		t.Fatalf("got nodes %v in the queue after the interrupt, want 0", nodes)
	}
	if output, err := programs.Command(t, binary, "-zk", server.Addr(), "-hold=0").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
