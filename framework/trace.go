package framework

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework/session"
)

// An Operation is one call of a Client's method that asked the servers for something, at its end.
//
// Curator: TracerDriver, AdvancedTracerDriver, OperationTrace.
type Operation struct {
	Op   string // "create", "get", …, as in an OpError
	Path string // as the caller gave it; "/" of a transaction
	// Began is when the caller called, and Took how long it waited, for a connection and between tries included.
	Began time.Time
	Took  time.Duration
	// Tries is how often a server was asked: 0 if there was no connection, more than 1 if it was asked again.
	Tries int
	// Sent and Received count the bytes of requests and of their answers, whole frames without TLS. What arrives after
	// the end of ctx is not counted.
	Sent, Received int64
	Server         string // that was asked last; "" if none was
	Err            error  // what the caller got
}

// doTraced is doRetrying, and reports the operation.
func (c *Client) doTraced(ctx context.Context, op, path string, f try) error {
	var meter session.Meter
	o := Operation{Op: op, Path: path, Began: time.Now()}
	o.Err = c.doRetrying(session.WithMeter(ctx, &meter), op, path, func(ctx context.Context, s *Session, absolute string, ambiguous bool) error {
		o.Tries++
		return f(ctx, s, absolute, ambiguous)
	})
	o.Took = time.Since(o.Began)
	o.Sent, o.Received, o.Server = meter.Sent, meter.Received, meter.Server
	c.core.traces.push(func() { c.core.cfg.trace.Operation(ctx, o) })
	return o.Err
}

// traceState reports a new state. mu is held.
func (c *core) traceState() {
	if told := c.cfg.trace.State; told != nil {
		state, server, at := c.state, c.server, time.Now()
		c.traces.pushAlways(func() { told(state, server, at) })
	}
}

func (c *core) orphanFound(path string) {
	if found := c.cfg.trace.OrphanFound; found != nil {
		c.traces.push(func() { found(path) })
	}
}

func (c *core) removalFailed(path string, err error) {
	if failed := c.cfg.trace.RemovalFailed; failed != nil {
		c.traces.push(func() { failed(path, err) })
	}
}
