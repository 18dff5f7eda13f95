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
	"github.com/gocurator/curator/framework/zktest/await"
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

// beHolder holds a lock, and says all the time whether it thinks that it does: the time before and after it looked,
// until when, and "held" or "lost".
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
		from, verdict := time.Now(), "held"
		if lease.Err() != nil {
			verdict = "lost"
		}
		until := lease.ValidUntil()
		if _, err := fmt.Fprintln(out, from.UnixNano(), time.Now().UnixNano(), until.UnixNano(), verdict); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// A process that is frozen cannot look. What it saw last was true, and what it sees first when it wakes is, too.
func TestAHolderThatWasFrozenKnowsAtItsFirstLook(t *testing.T) {
	t.Parallel()
	e := start(t, quick)
	second := connect(t, time.Minute, addrs(e.Members()...))
	for range 2 * *rounds {
		await.Until(t, 2*patience, "a holder that keeps the lock until it is frozen", func() bool {
			return freezeHolder(t, addrs(e.Members()...), second)
		})
	}
}

// freezeHolder freezes a holder until the second has been admitted, and judges what it saw. It reports false if the
// holder had lost the lock before, as its short session may end on a busy machine.
func freezeHolder(t *testing.T, servers []string, second *framework.Client) (judged bool) {
	t.Helper()
	path := "/frozen/" + name("process")
	holder := startHolder(t, strings.Join(servers, ",")+path)
	defer holder.kill()
	for range 2000 { // some renewals
		holder.look(t)
	}
	granted := make(chan grant, 1)
	go func() {
		lease, err := locks.NewInterProcessMutex(second, path).Acquire(t.Context())
		granted <- grant{time.Now(), lease, err}
	}()
	for children := 0; children < 2; {
		if holder.look(t).lost {
			break
		}
		children = len(nodes(t, second, path))
	}
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
	for first = holder.look(t); first.from.Before(woken); first = holder.look(t) { // what was in the pipe
		if first.to.Before(woken) { // otherwise it was frozen while it looked
			last = first
		}
	}
	if last.until.After(g.at) {
		t.Errorf("the last look before the pause: valid until %v after the second was admitted", last.until.Sub(g.at))
	}
	if !first.lost || first.until.After(g.at) {
		t.Errorf("the first look after the pause: lost %v, valid until %v after the second was admitted", first.lost, first.until.Sub(g.at))
	}
	t.Logf("second admitted %v after the freeze, %v after the last ValidUntil; first look %v after waking: lost",
		g.at.Sub(stopped), g.at.Sub(last.until), first.from.Sub(woken))
	if err := g.lease.Release(); err != nil {
		t.Error(err)
	}
	return !last.lost
}

// nodes lists a directory.
func nodes(t *testing.T, client *framework.Client, path string) []string {
	t.Helper()
	ctx, cancel := await.Context(t.Context(), t, patience, "the children of "+path)
	defer cancel()
	children, _, err := client.Children(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	return children
}

type holder struct {
	*child
	lines *bufio.Scanner
}

type view struct {
	from, to, until time.Time
	lost            bool
}

func startHolder(t *testing.T, where string) *holder {
	t.Helper()
	c, _, out := startChild(t, []string{os.Args[0]}, holderEnv+"="+where)
	return &holder{child: c, lines: bufio.NewScanner(out)}
}

func (h *holder) look(t *testing.T) view {
	t.Helper()
	var from, to, until int64
	var verdict string
	if !h.lines.Scan() {
		t.Fatalf("the holder says no more: %v", h.lines.Err())
	}
	if _, err := fmt.Sscan(h.lines.Text(), &from, &to, &until, &verdict); err != nil {
		t.Fatalf("%q: %v", h.lines.Text(), err)
	}
	return view{time.Unix(0, from), time.Unix(0, to), time.Unix(0, until), verdict == "lost"}
}

func (h *holder) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := h.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}
