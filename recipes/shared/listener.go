package shared

// A listener hears the values of a count, the newest one when it is called. It has a goroutine of its own while there
// is one that it has not heard: a listener that blocks holds up neither the others, among them the waiters of
// semaphores, nor the count.
type listener struct {
	fn func(count int32)

	// Guarded by the count's mu.
	told    int32 // what it has heard last
	running bool
	stopped bool
}

// OnChange calls fn with every value that differs from the one before; values that follow each other quickly may be
// told as one. Calls come one at a time, on a goroutine of the listener's own, after Start, and may use the count,
// Close included. A panic is logged by the client, and the next value told. stop ends the calls: none begins after it
// has returned, except for one that was about to, and it does not wait for one that is running. OnChange panics if fn
// is nil.
//
// Curator: SharedCount.addListener().
func (c *SharedCount) OnChange(fn func(count int32)) (stop func()) {
	if fn == nil {
		panic("shared: OnChange: the function is nil")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &listener{fn: fn, told: c.value.Value}
	c.listeners[l] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		l.stopped = true
		delete(c.listeners, l)
	}
}

// tell has every listener called that has not heard the newest value. It does not block.
func (c *SharedCount) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.listeners {
		if !l.running && l.told != c.value.Value {
			l.running = true
			go c.call(l)
		}
	}
}

// call calls a listener until it has heard the newest value.
func (c *SharedCount) call(l *listener) {
	finished := false
	defer func() {
		if !finished { // it has ended its goroutine, as testing's FailNow does
			go c.call(l)
		}
	}()
	for count, news := c.news(l); news; count, news = c.news(l) {
		_ = c.client.CallUser("a listener of a shared count", func() { l.fn(count) }) // which logs what it returns
	}
	finished = true
}

// news takes the newest value for a listener, or notes that it has heard it, or is to hear no more.
func (c *SharedCount) news(l *listener) (count int32, news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	count = c.value.Value
	l.running = count != l.told && !l.stopped && !c.closed
	l.told = count
	return count, l.running
}
