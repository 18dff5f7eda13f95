package locks_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/locks"
)

// dropped are the reports of dropped leases, by path. It is a slog.Handler for everything else as well.
type dropped struct {
	mu  sync.Mutex
	all map[string][]string // texts of the attributes
}

func (d *dropped) Enabled(context.Context, slog.Level) bool { return true }
func (d *dropped) WithAttrs([]slog.Attr) slog.Handler       { return d }
func (d *dropped) WithGroup(string) slog.Handler            { return d }

func (d *dropped) Handle(_ context.Context, r slog.Record) error {
	if r.Level != slog.LevelError || !strings.Contains(r.Message, "dropped without Release") {
		return nil
	}
	var path string
	var text []string
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "path" {
			path = a.Value.String()
		}
		text = append(text, a.String())
		return true
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all[path] = append(d.all[path], strings.Join(text, " "))
	return nil
}

// collected are the reports on a path after a garbage collection.
func (d *dropped) collected(path string) []string {
	runtime.GC()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.all[path])
}

// A dropping client logs dropped leases. Real time passes: the garbage collector knows no bubble.
type dropping struct {
	*framework.Client
	t       *testing.T
	server  *zktest.Server
	reports *dropped
	later   int // how many leases were dropped for wantNone
}

func newDropping(t *testing.T) *dropping {
	t.Helper()
	d := &dropping{t: t, server: zktest.NewServer(), reports: &dropped{all: map[string][]string{}}}
	t.Cleanup(func() { d.server.Close() })
	d.Client = d.connect()
	return d
}

func (d *dropping) connect() *framework.Client {
	d.t.Helper()
	client, err := framework.NewClient("zk:2181", framework.WithDialer(d.server.DialContext), framework.WithLogger(slog.New(d.reports)))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { client.Close() })
	return client
}

func (d *dropping) mutex(path string, opts ...locks.Option) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(d.Client, path, opts...)
}

// drop acquires, and loses the lease.
//
//go:noinline
func (d *dropping) drop(ctx context.Context, lock locks.Lock) {
	if _, err := lock.Acquire(ctx); err != nil {
		d.t.Error(err)
	}
}

// await waits for the report of a path.
func (d *dropping) await(path string) (report string) {
	d.t.Helper()
	await.Until(d.t, time.Minute, "the report of a dropped lease on "+path, func() bool {
		reports := d.reports.collected(path)
		if len(reports) > 0 {
			report = reports[0]
		}
		return len(reports) > 0
	})
	return report
}

// wantNone waits until leases that were dropped later are reported, twice, and wants no report of a path.
func (d *dropping) wantNone(path string) {
	d.t.Helper()
	for range 2 {
		d.later++
		later := fmt.Sprint("/later/", d.later)
		d.drop(d.t.Context(), d.mutex(later))
		d.await(later)
	}
	if got := d.reports.collected(path); len(got) > 0 {
		d.t.Errorf("%s: got reports %q, want none", path, got)
	}
}

func TestDroppedLeaseIsReportedOnceAndStaysHeld(t *testing.T) {
	d := newDropping(t)
	d.drop(t.Context(), d.mutex("/plain"))
	if got := d.await("/plain"); strings.Contains(got, "caller=") || !strings.Contains(got, "node=_c_") || !strings.Contains(got, "token=") {
		t.Errorf("got %q, want node and token, and no caller", got)
	}
	d.drop(t.Context(), d.mutex("/caller", locks.WithCaller()))
	if got, want := d.await("/caller"), "caller=github.com/gocurator/curator/recipes/locks_test.(*dropping).drop ("; !strings.Contains(got, want) ||
		!strings.Contains(got, "lease_drop_test.go:") {
		t.Errorf("got %q, want %q in it, and the line", got, want)
	}
	d.wantNone("/other")
	for _, path := range []string{"/plain", "/caller"} {
		if got := d.reports.collected(path); len(got) != 1 {
			t.Errorf("got reports %q, want one", got)
		}
		_, err := locks.NewInterProcessMutex(d.connect(), path).TryAcquire(t.Context())
		if !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("%s: got error %v, want ErrNotAcquired: the critical section may still run", path, err)
		}
	}
}

func TestDroppedLeaseOfEachKindIsReported(t *testing.T) {
	d := newDropping(t)
	lock := locks.NewInterProcessReadWriteLock(d.Client, "/write")
	d.drop(t.Context(), lock.WriteLock())
	d.drop(t.Context(), locks.NewInterProcessReadWriteLock(d.Client, "/read").ReadLock())
	d.drop(t.Context(), locks.NewInterProcessSemaphoreV2(d.Client, "/semaphore", 3))
	d.drop(t.Context(), locks.NewInterProcessSemaphoreMutex(d.Client, "/semaphore-mutex"))
	d.drop(t.Context(), d.mutex("/retained").Retained())
	d.drop(t.Context(), locks.Within(d.mutex("/within"), time.Minute))
	d.drop(t.Context(), locks.NewInterProcessMultiLockWithPaths(d.Client, []string{"/part/1", "/part/2"}))
	for _, path := range []string{"/write", "/read", "/semaphore", "/semaphore-mutex", "/retained", "/within", "/part/1", "/part/2"} {
		d.await(path)
	}
}

func TestLeaseIsNotReportedWhileTheProgramHasIt(t *testing.T) {
	d := newDropping(t)
	ctx := d.inside(d.mutex("/context"))
	derived, stop := context.WithCancel(d.inside(d.mutex("/derived")))
	parts := d.parts("/part/1", "/part/2")
	for _, path := range []string{"/context", "/derived", "/part/1", "/part/2"} {
		d.wantNone(path)
	}
	runtime.KeepAlive(ctx)
	runtime.KeepAlive(parts)
	runtime.KeepAlive(derived)
	stop()
	for _, path := range []string{"/context", "/derived", "/part/1", "/part/2"} {
		d.await(path)
	}
}

// inside returns the context of a lease, and loses the lease.
//
//go:noinline
func (d *dropping) inside(lock locks.Lock) context.Context {
	lease, err := lock.Acquire(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return lease.Context(d.t.Context())
}

// parts returns the parts of a multi-lock's lease, and loses that.
//
//go:noinline
func (d *dropping) parts(paths ...string) []*locks.Lease {
	lease, err := locks.NewInterProcessMultiLockWithPaths(d.Client, paths).Acquire(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return lease.Parts()
}

func TestLeaseThatHasEndedIsNotReported(t *testing.T) {
	d := newDropping(t)
	ctx := t.Context()
	for path, use := range map[string]func(path string) error{
		"/released":  func(path string) error { return d.released(ctx, d.mutex(path)) },
		"/retained":  func(path string) error { return d.released(ctx, d.mutex(path).Retained(locks.RetainIdle(time.Minute))) },
		"/semaphore": func(path string) error { return d.released(ctx, locks.NewInterProcessSemaphoreV2(d.Client, path, 2)) },
		"/done": func(path string) error {
			return locks.Do(ctx, d.mutex(path), func(context.Context) error { d.wantNone(path); return nil })
		},
		"/reentered": func(path string) error {
			return locks.Do(ctx, d.mutex(path), func(inner context.Context) error { return d.released(inner, d.mutex(path)) })
		},
		"/downgraded": func(path string) error {
			lock := locks.NewInterProcessReadWriteLock(d.Client, path)
			return locks.Do(ctx, lock.WriteLock(), func(inner context.Context) error { return d.released(inner, lock.ReadLock()) })
		},
		"/lost": func(path string) error {
			inner := d.inside(d.mutex(path))
			err := d.server.Delete(path + "/" + d.server.Children(path)[0])
			<-inner.Done()
			return err
		},
	} {
		if err := use(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		d.wantNone(path)
	}
	closed := d.connect()
	inner := d.inside(locks.NewInterProcessMutex(closed, "/closed"))
	closed.Close()
	<-inner.Done()
	d.wantNone("/closed")
}

//go:noinline
func (d *dropping) released(ctx context.Context, lock locks.Lock) error {
	lease, err := lock.Acquire(ctx)
	if err != nil {
		return err
	}
	return lease.Release()
}
