package framework

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"time"
)

// CatchPanic calls a function of the user, for recipes, on a goroutine that is not the user's: a panic there would end
// the process, and leave locks to their timeout. It is logged at Error with its stack, to slog.Default if the client
// has no logger, and returned as an error; there is no other. what names the function. CatchPanic blocks as long as
// call.
func (c *Client) CatchPanic(what string, call func()) error { return c.core.catchPanic(what, call) }

func (c *core) catchPanic(what string, call func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("framework: %s panicked: %v", what, p)
			c.calls.panics.Error(err.Error(), "stack", string(debug.Stack()))
		}
	}()
	call()
	return nil
}

// guardDial turns a panic in the dialer into a failed attempt.
func (c *core) guardDial(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		panicked := c.catchPanic("the dialer", func() { conn, err = dial(ctx, network, address) })
		return conn, cmp.Or(panicked, err)
	}
}

// guardSecure does so for TLS, whose configuration may have functions of the user.
func (c *core) guardSecure(secure secureFunc) secureFunc {
	if secure == nil {
		return nil
	}
	return func(ctx context.Context, raw net.Conn, server string) (conn net.Conn, err error) {
		panicked := c.catchPanic("the TLS handshake", func() { conn, err = secure(ctx, raw, server) })
		return conn, cmp.Or(panicked, err)
	}
}

// guardLookup does so for look-ups.
func (c *core) guardLookup(lookup lookupFunc) lookupFunc {
	if lookup == nil {
		return nil
	}
	return func(ctx context.Context, host string) ([]string, error) {
		return c.askUser(ctx, "the look-up function", func(ctx context.Context) ([]string, error) { return lookup(ctx, host) })
	}
}

func (c *core) guardServers(list serversFunc) serversFunc {
	if list == nil {
		return nil
	}
	return func(ctx context.Context) ([]string, error) { return c.askUser(ctx, "the list of servers", list) }
}

// leastAnswer is how long a look-up, or a list of servers, may take at least. It is longer than an attempt to connect:
// a name server that is down costs some seconds for each suffix of a name.
const leastAnswer = time.Minute

func (c *core) askUser(ctx context.Context, what string, ask serversFunc) (found []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, max(leastAnswer, c.cfg.connectionTimeout))
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	panicked := c.catchPanic(what, func() { found, err = ask(ctx) })
	return found, cmp.Or(panicked, err)
}

// handle gives a record to the user's log handler, and reports whether that is enabled for it. A handler that panics
// gets one record of that, and may panic again.
func handle(ctx context.Context, handler slog.Handler, r slog.Record) (enabled bool) {
	defer func() {
		if p := recover(); p != nil {
			defer func() { _ = recover() }()
			report := slog.NewRecord(r.Time, slog.LevelError, fmt.Sprintf("framework: the log handler panicked: %v", p), 0)
			report.AddAttrs(slog.String("record", r.Message), slog.String("stack", string(debug.Stack())))
			_ = pass(ctx, handler, report)
			enabled = true // as far as it is known
		}
	}()
	return pass(ctx, handler, r)
}

func pass(ctx context.Context, handler slog.Handler, r slog.Record) (enabled bool) {
	enabled = handler.Enabled(ctx, r.Level)
	if enabled {
		_ = handler.Handle(ctx, r)
	}
	return enabled
}
