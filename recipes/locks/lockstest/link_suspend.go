package lockstest

// Suspend stops the client for its servers, as SIGSTOP stops a process: it sends and hears nothing until Resume. Then
// everything goes on where it stood. Heal and Reset do not end that. The client's own time goes on, as that of
// a stopped process does.
func (l *Link) Suspend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.disturbed[l.session] = true
	if l.suspended == nil {
		l.suspended = make(chan struct{})
	}
}

// Resume undoes Suspend.
func (l *Link) Resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.suspended != nil {
		close(l.suspended)
		l.suspended = nil
	}
}

// awaitRunning waits until the client is not suspended, and reports false if done is closed before.
func (l *Link) awaitRunning(done <-chan struct{}) bool {
	l.mu.Lock()
	suspended := l.suspended
	l.mu.Unlock()
	if suspended == nil {
		return true
	}
	select {
	case <-suspended:
		return true
	case <-done:
		return false
	}
}
