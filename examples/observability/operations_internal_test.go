package observability

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gocurator/curator/framework/zktest"
)

func TestAnOperationIsASpanBelowItsCallersAndCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, w world) {
		client := w.client(t, w.server.DialContext)
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, caller := w.tracer.Start(t.Context(), "caller")
		if _, _, err := client.Create(ctx, "/a", nil); err != nil {
			t.Fatal(err)
		}
		w.server.DropReply(zktest.Match{Op: zktest.OpSetData, Path: "/a"})
		if _, err := client.Set(ctx, "/a", nil, -1); err != nil {
			t.Fatal(err)
		}
		if _, _, err := client.Get(ctx, "/missing"); err == nil {
			t.Fatal("got a node that is not there")
		}
		caller.End()
		synctest.Wait()
		for name, tries := range map[string]int64{"zookeeper create": 1, "zookeeper set": 2, "zookeeper get": 1} {
			span := w.span(t, name, 0)
			if span.Parent.SpanID() != caller.SpanContext().SpanID() {
				t.Errorf("%s: the span is no child of the caller's", name)
			}
			attributes := attributesOf(span)
			if attributes["zookeeper.tries"] != tries || attributes["server.address"] != "any" || attributes["server.port"] != int64(2181) || attributes["zookeeper.sent"] == int64(0) {
				t.Errorf("%s: got attributes %v, want %d tries at any:2181", name, attributes, tries)
			}
			if span.Status.Code == codes.Error {
				t.Errorf("%s: the span says %v", name, span.Status)
			}
		}
		if got, want := fmt.Sprint(attributesOf(w.span(t, "zookeeper get", 0))["error.type"]), "no_node"; got != want {
			t.Errorf("got error.type %q of a node that is not there, want %q", got, want)
		}
		equal(t, "creations", testutil.ToFloat64(w.prom.operations.WithLabelValues("create", "ok")), 1)
		equal(t, "missing nodes", testutil.ToFloat64(w.prom.operations.WithLabelValues("get", "no_node")), 1)
		equal(t, "retries", testutil.ToFloat64(w.prom.retries.WithLabelValues("set")), 1)
		if n := testutil.CollectAndCount(w.prom.operationTimes); n != 3 {
			t.Errorf("got durations of %d operations, want 3", n)
		}
	})
}

func attributesOf(span tracetest.SpanStub) map[string]any {
	attributes := map[string]any{}
	for _, a := range span.Attributes {
		attributes[string(a.Key)] = a.Value.AsInterface()
	}
	return attributes
}
