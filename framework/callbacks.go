package framework

import (
	"log/slog"
	"time"

	"github.com/gocurator/curator/framework/listen"
)

// callbacks are the functions that the client calls on goroutines of their own: each queue has one.
type callbacks struct {
	listeners *listen.Listeners[StateChange]
	logs      *listen.Queue[func()]
	panics    *slog.Logger // into logs, also of a client that logs nothing else: a bug must show
	traces    *listen.Queue[func()]
	chores    *listen.Queue[func()] // the client's own work after the end of leases, which does not block
}

// callbackLimit bounds the log records, or calls of traces, that wait.
const callbackLimit = 1024

// queueCallbacks makes the queues, and puts the client's log behind one.
func (c *core) queueCallbacks() {
	handler := c.cfg.logger.Handler()
	silent := handler == slog.DiscardHandler
	if silent {
		handler = slog.Default().Handler()
	}
	logs := newLogQueue(handler)
	c.calls = callbacks{
		listeners: listen.NewListeners(listen.Every[StateChange]), logs: logs.calls, panics: slog.New(logs),
		traces: listen.Bounded(callbackLimit, c.tracesDropped, c.callTrace),
		chores: listen.Every(func(chore func()) { chore() }),
	}
	if !silent {
		c.cfg.logger = c.calls.panics
	}
}

func (c *core) listen(fn func(StateChange), first ...StateChange) (stop func()) {
	return c.calls.listeners.Add(func(s StateChange) { _ = c.catchPanic("a state listener", func() { fn(s) }) }, first...)
}

func (c *core) callTrace(call func()) { _ = c.catchPanic("a function of a trace", call) }

func (c *core) tracesDropped(count int) func() {
	return func() {
		c.cfg.logger.Warn("framework: calls of traces were dropped, since their functions are too slow", "dropped", count)
	}
}

// close waits for the chores, gives the log handler and traces a second for what waits, and waits for no listener.
func (cs *callbacks) close() {
	cs.chores.Wait(nil)
	cs.listeners.Close()
	enough := make(chan struct{})
	timer := time.AfterFunc(time.Second, func() { close(enough) })
	defer timer.Stop()
	cs.traces.Wait(enough)
	cs.traces.Close()
	cs.logs.Wait(enough)
	cs.logs.Close()
}
