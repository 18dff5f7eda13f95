//go:build unix

package integration_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// frozenHolder names, in the environment, the server at which this test binary is to be a holder, instead of running
// tests, and its session timeout.
const frozenHolder = "CURATOR_FROZEN_HOLDER"

const frozenPath = "/locks/frozen"

// frozenTimeout is longer on a busy machine.
var frozenTimeout = lawTimeout() / 2

func TestMain(m *testing.M) {
	if server, timeout, ok := strings.Cut(os.Getenv(frozenHolder), " "); ok {
		session, err := time.ParseDuration(timeout)
		if err == nil {
			err = holdUntilLost(server, session, os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	// what runs in parallel here waits most of the time, so processors are no measure
	_ = flag.Set("test.parallel", "8")
	os.Exit(m.Run())
}

// holdUntilLost acquires, and prints ValidUntil again and again. For each line that it reads it prints what a first
// look says: Err, a re-entry, or a guarded transaction, as the line asks. "spin" has two answers, at once and when the
// time is up: whether the lease's context was over then.
func holdUntilLost(server string, session time.Duration, in io.Reader, out io.Writer) error {
	ctx := context.Background()
	losses := make(lossLog, 1)
	client, err := framework.NewClient(server, framework.WithSessionTimeout(session), framework.WithLogger(slog.New(losses)))
	if err != nil {
		return err
	}
	defer client.Close()
	mutex := locks.NewInterProcessMutex(client, frozenPath)
	lease, err := mutex.Acquire(ctx)
	for deadline := time.Now().Add(time.Minute); err != nil && time.Now().Before(deadline); {
		lease, err = mutex.Acquire(ctx) // it had no connection within its short timeout
	}
	if err != nil {
		return err
	}
	owned, retained := lease.Context(ctx), mutex.Retained(locks.RetainIdle(time.Minute))
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		answer := ""
		switch lines.Text() {
		case "until":
			answer = fmt.Sprint(lease.ValidUntil().UnixNano())
		case "ended": // as the log has it
			answer = fmt.Sprint((<-losses).UnixNano())
		case "err":
			answer = fmt.Sprint(errors.Is(lease.Err(), locks.ErrLeaseLost))
		case "spin":
			if _, err := fmt.Fprintln(out, "spins"); err != nil {
				return err
			}
			answer = fmt.Sprint(spin(owned, lease))
		case "reenter":
			_, err := mutex.Acquire(owned)
			answer = fmt.Sprint(errors.Is(err, locks.ErrLeaseLost))
		case "check":
			_, err := client.Transaction(ctx, lease.Check(), framework.SetOp("/guarded", []byte("late"), -1))
			answer = fmt.Sprint(errors.Is(err, locks.ErrLeaseLost))
		case "idle": // the lease is released, and the node of another stays
			_ = lease.Release() // again, if it was asked before
			answer = fmt.Sprint(becomeIdle(ctx, retained))
		case "try":
			_, err := retained.TryAcquire(ctx)
			answer = fmt.Sprint(errors.Is(err, locks.ErrNotAcquired))
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// spin keeps every processor until the lease's time is up, so that no timer runs before a look, and reports whether all
// looks at the lease's context, and then at one made from it, found them over.
func spin(owned context.Context, lease *locks.Lease) bool {
	var wrong atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		work, cancel := context.WithTimeout(owned, time.Hour)
		defer cancel()
		all.Go(func() {
			for time.Now().Before(lease.ValidUntil()) { // an endless loop ends no lease
			}
			if owned.Err() == nil || !errors.Is(context.Cause(work), locks.ErrLeaseLost) {
				wrong.Add(1)
			}
		})
	}
	all.Wait()
	return wrong.Load() == 0
}

// A lossLog gets from the log when a lease ended.
type lossLog chan time.Time

func (l lossLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (l lossLog) Handle(_ context.Context, record slog.Record) error {
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "ended" {
			select {
			case l <- a.Value.Time():
			default: // a later loss has no reader, and must not hold up the client
			}
		}
		return true
	})
	return nil
}

func (l lossLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l lossLog) WithGroup(string) slog.Handler      { return l }

// becomeIdle takes a lock until its node stays.
func becomeIdle(ctx context.Context, lock *locks.RetainedLock) error {
	for {
		if err := locks.Do(ctx, lock, func(context.Context) error { return nil }); err != nil {
			return err
		}
		all, err := lock.Participants(ctx)
		if err != nil && !errors.Is(err, zk.ErrNoNode) || len(all) > 0 && all[0].Retained {
			return err
		}
	}
}

// A holder is another process that holds the lock.
type holder struct {
	t       *testing.T
	process *os.Process
	in      io.Writer
	out     *bufio.Reader
}

func startHolder(t *testing.T, server string, session time.Duration) *holder {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), frozenHolder+"="+server+" "+session.String())
	cmd.Stderr = os.Stderr
	programs.Instrument(t, cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // frozen or not
		_ = cmd.Wait()
	})
	return &holder{t, cmd.Process, in, bufio.NewReader(out)}
}

func (h *holder) ask(question string) string {
	h.t.Helper()
	if _, err := fmt.Fprintln(h.in, question); err != nil {
		h.t.Fatal(err)
	}
	return h.hear()
}

// hear returns the next answer.
func (h *holder) hear() string {
	h.t.Helper()
	answer, err := h.out.ReadString('\n')
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.TrimSpace(answer)
}

func (h *holder) signal(s os.Signal) {
	h.t.Helper()
	if err := h.process.Signal(s); err != nil {
		h.t.Fatal(err)
	}
}

// The process stands still for longer than its session lives, and the next is let in. The last ValidUntil that the
// process could have seen lies before that; and whatever it asks first when it goes on, the answer is that the lease is
// lost.
func TestAFrozenHolderKnowsAtItsFirstLook(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	client := newClient(t, server)
	if _, _, err := client.Create(t.Context(), "/guarded", []byte("untouched")); err != nil {
		t.Fatal(err)
	}
	for _, first := range []string{"err", "reenter", "check", "spin"} {
		t.Run(first, func(t *testing.T) {
			h := startHolder(t, server.Addr(), frozenTimeout)
			var until int64
			for range 5 { // across some renewals
				if _, err := fmt.Sscan(h.ask("until"), &until); err != nil {
					t.Fatal(err)
				}
				<-time.After(frozenTimeout / 5)
			}
			if first == "spin" { // it looks before and after
				if got := h.ask(first); got != "spins" {
					t.Errorf("before the pause: got %q, want a holder that spins", got)
				}
			}
			h.signal(syscall.SIGSTOP)
			lease, err := locks.NewInterProcessMutex(client, frozenPath).Acquire(t.Context())
			granted := time.Now()
			if err != nil {
				t.Fatal(err)
			}
			if !time.Unix(0, until).Before(granted) {
				t.Errorf("the holder's lease was valid until %v; the next was let in at %v", time.Unix(0, until), granted)
			}
			h.signal(syscall.SIGCONT)
			look := h.hear
			if first != "spin" {
				look = func() string { return h.ask(first) }
			}
			if got := look(); got != "true" {
				t.Errorf("its first look does not say that the lease is lost")
			}
			if _, err := fmt.Sscan(h.ask("until"), &until); err != nil || !time.Unix(0, until).Before(granted) {
				t.Errorf("it says that it held until %v, %v; the next was let in at %v", time.Unix(0, until), err, granted)
			}
			if _, err := fmt.Sscan(h.ask("ended"), &until); err != nil || !time.Unix(0, until).Before(granted) {
				t.Errorf("its log has the end of the lease at %v, %v; the next was let in at %v", time.Unix(0, until), err, granted)
			}
			if data, _, err := client.Get(t.Context(), "/guarded"); err != nil || string(data) != "untouched" {
				t.Errorf("the guarded node contains %q, %v", data, err)
			}
			if err := lease.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The process stands still while it retains the lock and does not hold it. Whatever it does first when it goes on, it
// does not take the node that it had.
func TestAFrozenIdleHolderKnowsAtItsFirstLook(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	client := newClient(t, server)
	h := startHolder(t, server.Addr(), 3*frozenTimeout)
	var got string
	if !await.Within(patience, func() bool {
		if got = h.ask("idle"); got != "<nil>" {
			return false // a busy machine has cost it its session
		}
		h.signal(syscall.SIGSTOP) // a busy machine, whose renewals are late, may have cost it the node
		children, _, err := client.Children(t.Context(), frozenPath)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			t.Fatal(err)
		}
		if len(children) == 0 {
			h.signal(syscall.SIGCONT)
		}
		return len(children) > 0
	}) {
		await.Fatalf(t, "the node of the idle holder to stay; the holder said %s", got)
	}
	lease, err := locks.NewInterProcessMutex(client, frozenPath).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.signal(syscall.SIGCONT)
	if got := h.ask("try"); got != "true" {
		t.Errorf("a try of the process that was frozen is refused: got %s, want true", got)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}
