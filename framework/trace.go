package framework

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework/internal/live"
)

// An Operation is one call of a Client's method that asks the servers, at its end.
//
// Curator: TracerDriver, AdvancedTracerDriver, OperationTrace.
type Operation struct {
	Op   string // "create", "get", …, as in an OpError
	Path string // as the caller gave it; "/" of a transaction
	// Took includes waits for a connection and between tries.
	Began time.Time
	Took  time.Duration
	// Tries is how often a server was asked: 0 if there was no connection.
	Tries int
	// Sent and Received count the bytes of requests and answers, whole frames without TLS, until ctx ends.
	Sent, Received int64
	Server         string // the last; "" if none was asked
	Err            error
}

func (c *Client) doTraced(ctx context.Context, op, path string, f try) error {
	var meter live.Traffic
	o := Operation{Op: op, Path: path, Began: time.Now()}
	o.Err = c.doRetrying(live.WithTraffic(ctx, &meter), op, path, func(ctx context.Context, s *live.Session, absolute string, ambiguous bool) error {
		o.Tries++
		return f(ctx, s, absolute, ambiguous)
	})
	o.Took = time.Since(o.Began)
	o.Sent, o.Received, o.Server = meter.Sent, meter.Received, meter.Server
	c.core.calls.traces.Push(func() { c.core.cfg.trace.Operation(ctx, o) })
	return o.Err
}

func (c *core) orphanFound(path string) {
	if found := c.cfg.trace.OrphanFound; found != nil {
		c.calls.traces.Push(func() { found(path) })
	}
}

func (c *core) removalFailed(path string, err error) {
	if failed := c.cfg.trace.RemovalFailed; failed != nil {
		c.calls.traces.Push(func() { failed(path, err) })
	}
}
