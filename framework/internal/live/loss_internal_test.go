package live

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/gocurator/curator/framework/internal/cgroup"
	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/internal/sampletest"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

var explanations = flag.Int("explanations", 50, "how often each cause of a loss is played, with other times each time")

// A process is a session with a binding, whose goroutines can be stopped.
type process struct {
	*Runner
	server  *zktest.Server
	link    *zktest.Link
	rand    *rand.Rand
	timeout time.Duration
	until   time.Time  // the process is stopped until then
	ended   chan error // what the binding ended by
}

func (p *process) upTo(d time.Duration) time.Duration {
	return time.Duration(p.rand.Int64N(int64(d) + 1))
}

// stopped waits while the process is stopped.
func (p *process) stopped() {
	p.mu.Lock()
	until := p.until
	p.mu.Unlock()
	time.Sleep(time.Until(until))
}

// stop stops the process for so long.
func (p *process) stop(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = time.Now().Add(d)
}

type stoppable struct {
	net.Conn
	process *process
}

func (c stoppable) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.process.stopped()
	return n, err
}

// run is runClock in a process that can be stopped.
func (p *process) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-p.wake:
		case <-p.done:
			return
		}
		p.stopped()
		next := p.tick(p.clock.Now())
		timer.Reset(next.Sub(p.clock.Now()))
	}
}

func newProcess(t *testing.T, seed int, meter *cgroup.Meter, set ...func(*Config)) *process {
	t.Helper()
	server := zktest.NewServer()
	t.Cleanup(func() { _ = server.Close() })
	p := &process{server: server, link: server.NewLink(), rand: rand.New(rand.NewPCG(uint64(seed), 34)), ended: make(chan error, 1)} //nolint:gosec // a test repeats its seeds
	p.timeout = 4*time.Second + p.upTo(36*time.Second)
	logger := slog.New(slog.DiscardHandler)
	cfg := Config{
		Transport: transport.Config{
			Route: transport.NewRoute(func(context.Context) []string { return []string{"zk:2181"} }, nil),
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := p.link.DialContext(ctx, network, address)
				p.stopped()
				if err != nil {
					return nil, err
				}
				return stoppable{conn, p}, nil
			},
			SessionTimeout: p.timeout, ConnectionTimeout: p.timeout, MaxFrame: 1 << 20, Logger: logger, Clock: clock.New(),
			Support: transport.NewSupport(logger), Added: &transport.Authorizations{},
		},
		MaxRequest: 1 << 20, Meter: meter,
	}
	for _, set := range set {
		set(&cfg)
	}
	p.Runner = New(cfg, Events{
		Attached: func(string) {}, Detached: func(error) {}, Over: func() {}, Backlog: func(Backlog) {}, Failed: func(string, error) {},
		Restarted: func(string, int64, int64) {}, Chore: func(do func()) { do() }, OrphanFound: func(string) {},
		RemovalFailed: func(string, error) {},
	})
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go p.run()
	t.Cleanup(func() {
		p.end(session.ErrClosed, 0)
		p.Close(0)
	})
	if err := p.session.BlockUntilValid(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.session.Bind(func(cause error) { p.ended <- cause }, nil); err != nil {
		t.Fatal(err)
	}
	time.Sleep(p.upTo(3 * p.timeout))
	if seed%3 == 0 {
		time.Sleep(40 * p.timeout) // the ring has renewals alone
	}
	return p
}

// suspend lets a clock find that the machine was suspended for so long: time goes on for it alone.
func suspend(c *clock.Clock, d time.Duration) {
	suspended := reflect.ValueOf(c).Elem().FieldByName("suspended")
	known := suspended.FieldByName("since")
	if !known.IsValid() { // not on Linux
		known = suspended.FieldByName("most")
	}
	(*atomic.Int64)(unsafe.Pointer(known.UnsafeAddr())).Add(int64(d)) //nolint:gosec // the clock has no door for this
}

func TestAProcessThatDidNotRunIsNamed(t *testing.T) {
	diagnose(t, session.LossProcessStopped, func(p *process) string {
		p.stop(p.timeout + p.upTo(5*p.timeout))
		return "this process did not run for at least "
	})
}

func TestAProcessThatWasThrottledIsNamedWithThat(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		throttled := func(microseconds string) {
			if err := os.WriteFile(filepath.Join(dir, "cpu.stat"), []byte("throttled_usec "+microseconds+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		throttled("1000000")
		p := newProcess(t, 1, cgroup.New(os.DirFS(dir)))
		time.Sleep(p.timeout)
		throttled("11900000")
		first := make(chan session.Explanation, 1)
		if _, err := p.session.Bind(func(cause error) { first <- session.Explain(cause) }, nil); err != nil {
			t.Fatal(err)
		}
		p.stop(2 * p.timeout)
		lost := <-p.ended
		if got := <-first; got.Kind != session.LossProcessStopped {
			t.Errorf("got %v: %s from the first call, want a stopped process", got.Kind, got)
		}
		synctest.Wait()
		throttled("99000000") // later, and not read
		got := session.Explain(lost)
		if want := "its cgroup was throttled for 10.9s in the "; got.Kind != session.LossProcessStopped || !strings.Contains(got.Sentence, want) {
			t.Errorf("got %v: %s, want a stopped process with %q", got.Kind, got, want)
		}
	})
}

func TestASuspendedMachineIsNamed(t *testing.T) {
	diagnose(t, session.LossMachineSuspended, func(p *process) string {
		slept := (p.timeout + p.upTo(time.Hour)).Round(100 * time.Millisecond)
		suspend(p.clock, slept)
		return "the machine was suspended for " + slept.String()
	})
}

// diagnose has a cause end the binding again and again, at another time each time.
func diagnose(t *testing.T, want session.LossKind, ail func(p *process) (says string)) {
	t.Helper()
	named, part := 0, sampletest.New(t, "explanations").Part(*explanations, 3)
	for _, seed := range part {
		zktest.Bubble(t, func(t *testing.T) {
			p := newProcess(t, seed, nil)
			says := ail(p)
			cause := <-p.ended
			if !errors.Is(cause, session.ErrNotRenewed) && !errors.Is(cause, session.ErrSessionLost) {
				t.Errorf("seed %d: got %v, want ErrNotRenewed or ErrSessionLost", seed, cause)
			}
			switch got := session.Explain(cause); {
			case got.Kind == want && strings.Contains(got.Sentence, says):
				named++
			case got.Kind == session.LossUnknown:
				t.Logf("seed %d: unnamed: %s\n\t%s", seed, got.Sentence, strings.Join(got.Evidence, "\n\t"))
			default:
				t.Errorf("seed %d: got %v: %s, want %v with %q\n\t%s", seed, got.Kind, got.Sentence, want, says, strings.Join(got.Evidence, "\n\t"))
			}
		})
	}
	t.Logf("named %d of %d", named, len(part))
	if unnamed := len(part) - named; unnamed*100 > *explanations*5 {
		t.Errorf("named %d of %d, want 95 of a hundred of all %d", named, len(part), *explanations)
	}
}
