package shared

// OnChange calls fn with every value that differs from the one before; values that follow each other quickly may be
// merged into one call. Calls come one at a time, on a goroutine of the listener's own, after Start, and may use the
// count, Close included. The client logs a panic, and the next value causes another call. stop ends the calls: none
// begins after it has returned, except for one that was about to, and it does not wait for one that is running.
// OnChange panics if fn is nil.
//
// Curator: SharedCount.addListener().
func (c *SharedCount) OnChange(fn func(count int32)) (stop func()) {
	if fn == nil {
		panic("shared: OnChange: the function is nil")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	heard, started := c.value.Value, c.done != nil
	return c.listeners.Add(func(count int32) {
		if !started { // this is its first call, and Start wrote begun before it pushed anything
			heard, started = c.begun, true
		}
		if count != heard { // it may have changed, and changed back, while fn ran
			heard = count
			_ = c.client.CatchPanic("a listener of a shared count", func() { fn(count) }) // CatchPanic logs a panic
		}
	})
}

// publish gives the listeners the newest value. It does not block.
func (c *SharedCount) publish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners.Push(c.value.Value)
}
