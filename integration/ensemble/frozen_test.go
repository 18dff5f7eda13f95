//go:build linux

package main_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// holderEnv makes the test binary a process that holds a lock: at the servers and on the path that it names.
const holderEnv = "CURATOR_ENSEMBLE_HOLDER"

func TestMain(m *testing.M) {
	if servers, path, ok := strings.Cut(os.Getenv(holderEnv), "/"); ok {
		if err := beHolder(servers, "/"+path, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}

const frozenSession = 2 * time.Second

// beHolder holds a lock, and says all the time whether it thinks that it does: the time, until when, and "held" or
// "lost".
func beHolder(servers, path string, out io.Writer) error {
	client, err := framework.NewClient(servers, framework.WithSessionTimeout(frozenSession))
	if err != nil {
		return err
	}
	defer client.Close()
	lease, err := locks.NewInterProcessMutex(client, path).Acquire(context.Background())
	if err != nil {
		return err
	}
	for {
		verdict := "held"
		if lease.Err() != nil {
			verdict = "lost"
		}
		if _, err := fmt.Fprintln(out, time.Now().UnixNano(), lease.ValidUntil().UnixNano(), verdict); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// A process that is frozen cannot look. What it saw last was true, and what it sees first when it wakes is, too.
func TestAHolderThatWasFrozenKnowsAtItsFirstLook(t *testing.T) {
	t.Parallel()
	e := start(t, quick)
	second := connect(t, frozenSession, addrs(e.Members()...))
	for range 2 * *rounds {
		path := "/frozen/" + name("process")
		holder := startHolder(t, strings.Join(addrs(e.Members()...), ",")+path)
		for range 2000 { // some renewals
			holder.look(t)
		}
		granted := make(chan grant, 1)
		ctx := limit(t)
		go func() {
			lease, err := locks.NewInterProcessMutex(second, path).Acquire(ctx)
			granted <- grant{time.Now(), lease, err}
		}()
		awaitChildren(t, second, path, 2)
		holder.signal(t, syscall.SIGSTOP)
		stopped := time.Now()
		g := <-granted
		if g.err != nil {
			t.Fatal(g.err)
		}
		time.Sleep(100 * time.Millisecond)
		woken := time.Now()
		holder.signal(t, syscall.SIGCONT)

		var last, first view
		for first = holder.look(t); first.at.Before(woken); first = holder.look(t) { // what was in the pipe
			last = first
		}
		if last.lost || last.until.After(g.at) {
			t.Errorf("the last look before the pause: lost %v, valid until %v after the second was admitted", last.lost, last.until.Sub(g.at))
		}
		if !first.lost || first.until.After(g.at) {
			t.Errorf("the first look after the pause: lost %v, valid until %v after the second was admitted", first.lost, first.until.Sub(g.at))
		}
		t.Logf("second admitted %v after the freeze, %v after the last ValidUntil; first look %v after waking: lost",
			g.at.Sub(stopped), g.at.Sub(last.until), first.at.Sub(woken))
		if err := g.lease.Release(); err != nil {
			t.Error(err)
		}
		holder.kill()
	}
}

type holder struct {
	*child
	lines *bufio.Scanner
}

type view struct {
	at, until time.Time
	lost      bool
}

func startHolder(t *testing.T, where string) *holder {
	t.Helper()
	c, _, out := startChild(t, []string{os.Args[0]}, holderEnv+"="+where)
	return &holder{child: c, lines: bufio.NewScanner(out)}
}

func (h *holder) look(t *testing.T) view {
	t.Helper()
	var at, until int64
	var verdict string
	if !h.lines.Scan() {
		t.Fatalf("the holder says no more: %v", h.lines.Err())
	}
	if _, err := fmt.Sscan(h.lines.Text(), &at, &until, &verdict); err != nil {
		t.Fatalf("%q: %v", h.lines.Text(), err)
	}
	return view{time.Unix(0, at), time.Unix(0, until), verdict == "lost"}
}

func (h *holder) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := h.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}
