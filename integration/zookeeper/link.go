//go:build unix

package zookeeper

import (
	"sync"
	"time"
)

// A link is one direction of a proxy.
type link struct {
	proxy *proxy

	mu      sync.Mutex
	passing bool
	open    chan struct{} // closed while passing
	delay   time.Duration
	writing int // how many are just passing something on
}

func newLink(p *proxy) *link {
	l := &link{proxy: p, passing: true, open: make(chan struct{})}
	close(l.open)
	return l
}

// enter blocks until what was said at that time may pass, and returns true; or false once gone is closed. Each enter
// that returns true needs a leave.
func (l *link) enter(said time.Time, gone <-chan struct{}) bool {
	for {
		select {
		case <-gone:
			return false
		default:
		}
		l.mu.Lock()
		wait := time.Until(said.Add(l.delay))
		open := l.open
		if l.passing && wait <= 0 {
			l.writing++
			l.mu.Unlock()
			return true
		}
		passing := l.passing
		l.mu.Unlock()
		if passing {
			open = nil // only the time is missing
		}
		timer := time.NewTimer(max(wait, 0))
		if !passing {
			timer.Stop()
		}
		select {
		case <-open:
		case <-timer.C:
		case <-gone:
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

func (l *link) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing--
}

// settle waits until nothing is being passed on. Only a receiver that takes nothing can make that long: then nothing
// arrives.
func (l *link) settle() {
	for range 100 {
		l.mu.Lock()
		idle := l.writing == 0
		l.mu.Unlock()
		if idle {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// whole returns a channel that is closed while the link passes on.
func (l *link) whole() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

func (l *link) passes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.passing
}
