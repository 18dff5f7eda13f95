package observability

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A world is a server in memory and what was seen of its clients.
type world struct {
	*Telemetry
	server *zktest.Server
	spans  *tracetest.InMemoryExporter
	logs   *bytes.Buffer

	reader   *sdkmetric.ManualReader
	registry *prometheus.Registry
}

func inBubble(t *testing.T, do func(t *testing.T, w world)) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		w := world{server: zktest.New(t), spans: tracetest.NewInMemoryExporter(), logs: new(bytes.Buffer)}
		provider := sdk.NewTracerProvider(sdk.WithSyncer(w.spans))
		w.reader, w.registry = sdkmetric.NewManualReader(), prometheus.NewRegistry()
		var err error
		w.Telemetry, err = New(Config{
			Tracer: provider.Tracer("test"), Registerer: w.registry, Logger: slog.New(slog.NewTextHandler(w.logs, nil)),
			Meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.reader)).Meter("test"),
		})
		if err != nil {
			t.Fatal(err)
		}
		do(t, w)
	})
}

func (w world) client(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error)) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("any:2181", append(w.ClientOptions(),
		framework.WithDialer(dial), framework.WithSessionTimeout(10*time.Second))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// span returns the one span of that name.
func (w world) span(t *testing.T, name string, at int) tracetest.SpanStub {
	t.Helper()
	for _, s := range w.spans.GetSpans() {
		if s.Name == name {
			if at == 0 {
				return s
			}
			at--
		}
	}
	t.Fatalf("no such span %s", name)
	return tracetest.SpanStub{}
}

func equal(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestWaitAndHoldAreOneTrace(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		dial := w.server.DialContext
		first := locks.NewInterProcessMutex(w.client(t, dial), "/lock", w.Lock("l"))
		second := locks.NewInterProcessMutex(w.client(t, dial), "/lock", w.Lock("l"))
		lease, err := first.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(3*time.Second, func() { lease.Release() })
		next, err := second.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if err := next.Release(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		acquire, hold := w.span(t, "acquire l", 1), w.span(t, "hold l", 1)
		if hold.Parent.SpanID() != acquire.SpanContext.SpanID() || hold.SpanContext.TraceID() != acquire.SpanContext.TraceID() {
			t.Error("the hold is no child of its acquire")
		}
		if took := acquire.EndTime.Sub(acquire.StartTime); took != 3*time.Second || len(acquire.Events) != 1 {
			t.Errorf("the wait took %v, with %v", took, acquire.Events)
		}
		if took := hold.EndTime.Sub(hold.StartTime); took != 2*time.Second {
			t.Errorf("the hold took %v", took)
		}
		equal(t, "acquired", testutil.ToFloat64(w.prom.acquires.WithLabelValues("l", "lock", "acquired")), 2)
		equal(t, "histograms of holds", float64(testutil.CollectAndCount(w.prom.holds)), 1)
		if n := len(w.holds); n != 0 {
			t.Errorf("%d holds are remembered", n)
		}
	})
}

// The trace reports a release when the removal of the node is answered.
func TestAHoldsSpanEndsWithItsLease(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		link := w.server.NewLink()
		lease, err := locks.NewInterProcessMutex(w.client(t, link.DialContext), "/lock", w.Lock("l")).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		link.SetLatency(100 * time.Millisecond)
		time.Sleep(5 * time.Second)
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		acquire, hold := w.span(t, "acquire l", 0), w.span(t, "hold l", 0)
		if !hold.StartTime.Equal(acquire.EndTime) || hold.EndTime.Sub(hold.StartTime) != 5*time.Second {
			t.Errorf("got a hold from %v to %v, want one of 5s from %v", hold.StartTime, hold.EndTime, acquire.EndTime)
		}
	})
}

func TestLossIsCountedWithItsReason(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		link := w.server.NewLink()
		lease, err := locks.NewInterProcessMutex(w.client(t, link.DialContext), "/lock", w.Lock("l")).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		link.Cut()
		<-lease.Done()
		synctest.Wait()
		equal(t, "lapsed", testutil.ToFloat64(w.prom.losses.WithLabelValues("l", "lapsed")), 1)
		if got := w.points(t, "lock.client.losses"); !slices.Contains(got, "not-reached lock l 1") {
			t.Errorf("lock.client.losses: got %q, want one that was not reached", got)
		}
		equal(t, "not-reached", testutil.ToFloat64(w.prom.causes.WithLabelValues("l", "not-reached")), 1)
		equal(t, "suspended", testutil.ToFloat64(w.prom.states.WithLabelValues("SUSPENDED")), 1)
		if hold := w.span(t, "hold l", 0); hold.Status.Code != codes.Error || hold.Status.Description != "lapsed" {
			t.Errorf("status %v", hold.Status)
		}
		if !strings.Contains(w.logs.String(), "lock: lost") || !strings.Contains(w.logs.String(), "no server was reached for") || !strings.Contains(w.logs.String(), "SUSPENDED") {
			t.Errorf("logs: %s", w.logs)
		}
		link.Heal()
	})
}

func TestRequestToLeaveIsCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		client := w.client(t, w.server.DialContext)
		mutex := locks.NewInterProcessMutex(client, "/lock", w.Lock("l"))
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := locks.AttemptRevoke(t.Context(), client, "/lock/"+lease.NodeName()); err != nil {
			t.Fatal(err)
		}
		<-lease.RevocationRequested()
		synctest.Wait()
		equal(t, "requests", testutil.ToFloat64(w.prom.revocations.WithLabelValues("l")), 1)
	})
}

// Holds of a retained lock share a node, and each ends once.
func TestRetainedNodesAreCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		client := w.client(t, w.server.DialContext)
		if err := w.server.Create("/lock", nil); err != nil { // a container would be removed, and numbers would restart
			t.Fatal(err)
		}
		lock := locks.NewInterProcessMutex(client, "/lock", w.Lock("l")).Retained(locks.RetainIdle(time.Second))
		cycle := func(lock locks.Lock) {
			t.Helper()
			if err := locks.Do(t.Context(), lock, func(context.Context) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		for range 6 {
			cycle(lock)
		}
		time.Sleep(2 * time.Second)
		for range 4 {
			cycle(lock)
		}
		cycle(locks.NewInterProcessMutex(client, "/lock"))
		synctest.Wait()
		for event, want := range map[string]float64{"kept": 8, "idle": 1, "demanded": 1, "handed_over": 0} {
			equal(t, event, testutil.ToFloat64(w.prom.retained.WithLabelValues("l", event)), want)
		}
		if n := len(w.holds); n > 0 {
			t.Errorf("got %d holds that have not ended, want none", n)
		}
	})
}

func TestOrphanIsCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		link := w.server.NewLink()
		client := w.client(t, link.DialContext)
		mutex := locks.NewInterProcessMutex(client, "/lock", w.Lock("l"))
		other, err := locks.NewInterProcessMutex(w.client(t, w.server.DialContext), "/lock").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		// The answer to the creation is lost, and the caller gives up while no server can be reached.
		w.server.DropReply(zktest.Match{Op: zktest.OpCreate2, Path: "/lock/*"})
		stop := w.server.Observe(func(r zktest.Request) {
			if r.Op == zktest.OpCreate2 {
				link.Cut()
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := mutex.Acquire(ctx); err == nil {
			t.Fatal("acquired")
		}
		stop()
		link.Heal()
		time.Sleep(5 * time.Second)
		equal(t, "orphans", testutil.ToFloat64(w.prom.orphans), 1)
		equal(t, "timeouts", testutil.ToFloat64(w.prom.acquires.WithLabelValues("l", "lock", "timeout")), 1)
		if children := w.server.Children("/lock"); len(children) != 1 {
			t.Errorf("left: %v", children)
		}
		if err := other.Release(); err != nil {
			t.Error(err)
		}
	})
}
