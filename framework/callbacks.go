package framework

import (
	"sync"
)

// callbacks calls functions of the user, one at a time, in their order, on a goroutine that exists only while there is
// something to call. To queue one never blocks: a callback that blocks holds up those behind it and nothing else. The
// zero value is ready for use.
type callbacks struct {
	limit   int                          // of waiting; 0 is none
	dropped func(count int) (say func()) // makes the report; needed with a limit
	isolate func(call func())            // survives a panic; nil if none can

	mu      sync.Mutex
	waiting []func()
	missed  int           // dropped since the last report
	running chan struct{} // closed when nothing waits or runs; nil then
	closed  bool
}

// callbackLimit bounds the log records, or calls of traces, that wait.
const callbackLimit = 1024

// push queues a call. It is dropped, and counted, beyond the limit, and ignored after close.
func (c *callbacks) push(call func()) { c.queue(call, false) }

// pushAlways queues a call that is never dropped.
func (c *callbacks) pushAlways(call func()) { c.queue(call, true) }

func (c *callbacks) queue(call func(), always bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return
	case c.limit > 0 && len(c.waiting) >= c.limit && !always:
		c.missed++
		return
	}
	c.reportMissed()
	c.waiting = append(c.waiting, call)
	if c.running == nil {
		c.running = make(chan struct{})
		go c.run()
	}
}

// reportMissed queues the report of drops, at its place in the order. mu is held.
func (c *callbacks) reportMissed() {
	if c.missed > 0 {
		c.waiting = append(c.waiting, c.dropped(c.missed))
		c.missed = 0
	}
}

func (c *callbacks) run() {
	finished := false
	defer func() {
		// a callback that ended the goroutine, as testing's FailNow does, is not the end of the others
		if !finished {
			go c.run()
		}
	}()
	for call := c.next(); call != nil; call = c.next() {
		if c.isolate != nil {
			c.isolate(call)
		} else {
			call()
		}
	}
	finished = true
}

func (c *callbacks) next() func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.reportMissed()
	}
	if len(c.waiting) == 0 {
		c.waiting = nil
		close(c.running)
		c.running = nil
		return nil
	}
	call := c.waiting[0]
	c.waiting[0] = nil
	c.waiting = c.waiting[1:]
	return call
}

// wait blocks until nothing waits or runs, or until enough is closed.
func (c *callbacks) wait(enough <-chan struct{}) {
	c.mu.Lock()
	running := c.running
	c.mu.Unlock()
	if running == nil {
		return
	}
	select {
	case <-running:
	case <-enough:
	}
}

// close drops what waits, without waiting for what runs. No call begins then but one that was taken from the queue
// already.
func (c *callbacks) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.waiting = nil
	c.missed = 0
}
