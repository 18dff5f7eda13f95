// Demo shows locks in traces, metrics and logs, through package observability: two services take turns, a cache has
// what stands in their queue, and the first of them is registered and leads.
//
//	cd examples/observability
//	go run ./demo                # on a server in memory; prints spans, and at the end all metrics; log lines on stderr
//	go run ./demo -zk zk1:2181   # on real ZooKeeper
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/examples/observability"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
)

//go:embed main.go
var source string // -h prints the comment at its head

const path = "/examples/observability"

func main() {
	var connection demo.Connection
	connection.Flags(flag.CommandLine)
	demo.Command{Name: "demo", About: demo.Help(source), Run: func(ctx context.Context, out io.Writer) error {
		options, err := connection.Options()
		if err != nil {
			return err
		}
		servers, dial := connection.Servers, new(net.Dialer).DialContext
		if servers == "" {
			server := zktest.NewServer()
			defer server.Close() //nolint:errcheck // it returns nil
			servers, dial = "in-memory:2181", server.DialContext
		} else {
			_, _ = fmt.Fprintf(os.Stderr, "demo: connecting to %s\n", servers)
		}
		err = observe(ctx, servers, append(options, framework.WithDialer(dial), framework.WithConnectionTimeout(5*time.Second)), out, os.Stderr)
		if ctx.Err() != nil && err != nil {
			return context.Cause(ctx)
		}
		return err
	}}.Main(flag.CommandLine)
}

// observe sets everything up, lets two services take turns, and prints what there was to see.
func observe(ctx context.Context, connect string, options []framework.Option, out, logs io.Writer) error {
	out = &lines{out: out}
	provider := sdk.NewTracerProvider(sdk.WithSyncer(printer{out})) // yours exports to a collector
	defer provider.Shutdown(ctx)                                    //nolint:errcheck // a printer has nothing to say
	registry := prometheus.NewRegistry()                            // yours is served at /metrics
	telemetry, err := observability.New(observability.Config{
		Tracer: provider.Tracer("example"), Registerer: registry, Logger: slog.New(slog.NewTextHandler(logs, nil)),
	})
	if err != nil {
		return err
	}
	first, err := framework.NewClient(connect, append(telemetry.ClientOptions(), options...)...)
	if err != nil {
		return &demo.UsageError{Err: fmt.Errorf("-zk: %w", err)}
	}
	defer first.Close() //nolint:errcheck // the end of an example
	second, err := framework.NewClient(connect, append(telemetry.ClientOptions(), options...)...)
	if err != nil {
		return err
	}
	defer second.Close() //nolint:errcheck // closed below, too
	telemetry.Watch("first", first)
	telemetry.Watch("second", second)
	queue := cache.NewCuratorCache(first, path, cache.WithDepth(1))
	if err := queue.Start(ctx); err != nil {
		return err
	}
	defer queue.Close() //nolint:errcheck // it has been started
	telemetry.WatchCache("queue", queue)
	registration := nodes.NewPersistentNode(first, path+"-workers/first", nil)
	if err := registration.Start(ctx); err != nil {
		return err
	}
	defer registration.Close() //nolint:errcheck // the end of an example
	telemetry.WatchRegistration("workers", registration)
	latch := leader.NewLeaderLatch(first, path+"-leaders", telemetry.Election("leaders"))
	if err := latch.Start(ctx); err != nil {
		return err
	}
	defer latch.Close() //nolint:errcheck // the end of an example
	telemetry.WatchLeader("leaders", latch)
	if _, err := latch.Await(ctx); err != nil {
		return err
	}
	if err := takeTurns(ctx, telemetry, first, second); err != nil {
		return err
	}
	if err := reported(ctx, first); err != nil {
		return err
	}
	families, err := registry.Gather()
	if err != nil {
		return err
	}
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(out, family); err != nil {
			return err
		}
	}
	return nil
}

// reported waits until the functions of traces have run for what the client has done: they run in order, beside it.
func reported(ctx context.Context, client *framework.Client) error {
	done := make(chan struct{})
	client.QueueTraceAlways(func() { close(done) })
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// takeTurns lets a service wait for another, ask it to leave, and hold the lock until its client is closed under it.
func takeTurns(ctx context.Context, telemetry *observability.Telemetry, firstClient, secondClient *framework.Client) error {
	first := locks.NewInterProcessMutex(firstClient, path, telemetry.Lock("nightly"))
	second := locks.NewInterProcessMutex(secondClient, path, telemetry.Lock("nightly"))
	holding, err := first.Acquire(ctx)
	if err != nil {
		return err
	}
	if _, err := second.TryAcquire(ctx); !errors.Is(err, locks.ErrNotAcquired) {
		return fmt.Errorf("tried a lock that is taken: %w", err)
	}
	left := make(chan error, 1)
	go func() {
		<-holding.RevocationRequested()
		time.Sleep(50 * time.Millisecond) // finishes its work
		left <- holding.Release()
	}()
	queue, err := second.Participants(ctx)
	if err != nil {
		return err
	}
	if err := locks.AttemptRevoke(ctx, secondClient, queue[0].Path); err != nil {
		return err
	}
	lease, err := second.Acquire(ctx)
	if err := errors.Join(err, <-left); err != nil {
		return err
	}
	// re-enters
	if err := locks.Do(lease.Context(ctx), second, func(context.Context) error { return nil }); err != nil {
		return err
	}
	if err := secondClient.Close(); err != nil {
		return err
	}
	if err := lease.Err(); !errors.Is(err, locks.ErrLeaseLost) {
		return fmt.Errorf("the client is closed, and the lease's error is %w", err)
	}
	return nil
}

// lines lets several write to one writer.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

// printer prints spans as they end.
type printer struct{ out io.Writer }

// ExportSpans prints one line for each span.
func (p printer) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	for _, s := range spans {
		_, _ = fmt.Fprintf(p.out, "span %s %s %v %v %s\n", s.SpanContext().TraceID(), s.Name(),
			s.EndTime().Sub(s.StartTime()).Round(time.Microsecond), s.Status().Code, s.Status().Description)
	}
	return nil
}

// Shutdown does nothing.
func (printer) Shutdown(context.Context) error { return nil }
