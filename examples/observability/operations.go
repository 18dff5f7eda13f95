package observability

import (
	"context"
	"errors"
	"net"
	"strconv"

	"github.com/go-zookeeper/zk"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
)

// operation makes the span and the metrics of one operation of a client, when it is over: it began so long ago. The
// span is a child of the one in the caller's context.
func (t *Telemetry) operation(ctx context.Context, o framework.Operation) {
	outcome := OperationOutcome(o.Err)
	t.prom.operations.WithLabelValues(o.Op, outcome).Inc()
	t.prom.operationTimes.WithLabelValues(o.Op).Observe(o.Took.Seconds())
	t.prom.retries.WithLabelValues(o.Op).Add(float64(max(o.Tries-1, 0)))
	t.prom.sent.Add(float64(o.Sent))
	t.prom.received.Add(float64(o.Received))
	attributes := []attribute.KeyValue{attribute.String("db.system.name", "zookeeper"), attribute.String("db.operation.name", o.Op)}
	if o.Err != nil {
		attributes = append(attributes, attribute.String("error.type", outcome))
	}
	t.otel.operationDuration.Record(ctx, o.Took.Seconds(), metric.WithAttributes(attributes...))
	host, port := address(o.Server)
	_, span := t.tracer.Start(ctx, "zookeeper "+o.Op, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(o.Began),
		trace.WithAttributes(attributes...), trace.WithAttributes(attribute.String("zookeeper.path", o.Path),
			attribute.String("server.address", host), attribute.Int("server.port", port), attribute.Int("zookeeper.tries", o.Tries),
			attribute.Int64("zookeeper.sent", o.Sent), attribute.Int64("zookeeper.received", o.Received)))
	defer span.End(trace.WithTimestamp(o.Began.Add(o.Took)))
	if o.Err != nil {
		span.RecordError(o.Err)
		if outcome == "error" || outcome == "unreachable" { // the others are answers
			span.SetStatus(codes.Error, outcome)
		}
	}
}

// address is what OpenTelemetry has as two attributes; 0 if there is no port.
func address(server string) (host string, port int) {
	host, number, err := net.SplitHostPort(server)
	if err != nil {
		return server, 0
	}
	port, _ = strconv.Atoi(number)
	return host, port
}

// OperationOutcome is how an operation ended, in a few words.
func OperationOutcome(err error) string {
	var unreachable *framework.ConnectError
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, zk.ErrNoNode):
		return "no_node"
	case errors.Is(err, zk.ErrNodeExists):
		return "node_exists"
	case errors.Is(err, zk.ErrBadVersion):
		return "bad_version"
	case errors.Is(err, zk.ErrNotEmpty):
		return "not_empty"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.As(err, &unreachable):
		return "unreachable"
	default:
		return "error"
	}
}
