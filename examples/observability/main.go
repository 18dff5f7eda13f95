// Observability shows locks in traces, metrics and logs: telemetry.go ties the hooks of this library to OpenTelemetry,
// Prometheus and slog. Take it as it is, and change what your system names differently.
//
//	cd examples/observability
//	go run .                # on a server in memory; prints spans, log lines and at the end all metrics
//	go run . -zk zk1:2181   # on real ZooKeeper
//
// It is a module of its own, so that who uses the locks does not depend on any of the three.
package main

import (
	"context"
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

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func main() {
	connect := flag.String("zk", "", "real ZooKeeper, as `host:port,host:port/chroot` (default: a server in memory)")
	flag.Parse()
	dial := new(net.Dialer).DialContext
	if *connect == "" {
		server := zktest.NewServer()
		defer server.Close() //nolint:errcheck // it returns nil
		*connect, dial = "in-memory:2181", server.DialContext
	}
	if err := observe(context.Background(), *connect, dial, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "observability:", err)
		os.Exit(1) //nolint:gocritic // the server in memory goes with the process
	}
}

// observe sets everything up, lets two services take turns, and prints what there was to see.
func observe(ctx context.Context, connect string, dial framework.DialFunc, out io.Writer) error {
	out = &lines{out: out}
	provider := sdk.NewTracerProvider(sdk.WithSyncer(printer{out})) // yours exports to a collector
	defer provider.Shutdown(ctx)                                    //nolint:errcheck // a printer has nothing to say
	registry := prometheus.NewRegistry()                            // yours is served at /metrics
	logger := slog.New(slog.NewTextHandler(out, nil))
	telemetry := NewTelemetry(provider.Tracer("example"), registry, logger)

	if err := takeTurns(ctx, telemetry, connect, dial); err != nil {
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

// takeTurns lets a service wait for another, ask it to leave, and hold the lock until its client is closed under it.
func takeTurns(ctx context.Context, telemetry *Telemetry, connect string, dial framework.DialFunc) error {
	service := func() (*framework.Client, *locks.InterProcessMutex, error) {
		client, err := framework.NewClient(connect, append(telemetry.ClientOptions(), framework.WithDialer(dial))...)
		if err != nil {
			return nil, nil, err
		}
		return client, locks.NewInterProcessMutex(client, "/examples/observability", telemetry.Lock("nightly")), nil
	}
	firstClient, first, err := service()
	if err != nil {
		return err
	}
	defer firstClient.Close() //nolint:errcheck // the end of an example
	secondClient, second, err := service()
	if err != nil {
		return err
	}
	defer secondClient.Close() //nolint:errcheck // closed below, too

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
	if err := locks.Do(lease.Context(ctx), second, func(context.Context) error { return nil }); err != nil { // re-enters
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
