//go:build unix

package zookeeper

import (
	"slices"
	"time"
)

// Links are directed links between two ends: what one end says goes over one of them, what the other says over another.
// They are proxies on loopback, so that whatever can happen to a network can happen to them. The methods change all of
// them, the connections there are and those to come, and return when the change is in force. They are safe for
// concurrent use.
type Links []*link

// Cut silences the links: nothing arrives any more, and neither side hears of it. New connections seem to be made and
// are as silent. [Links.Heal] resets what was connected meanwhile: an outage longer than TCP's patience.
func (ls Links) Cut() { ls.stop(true) }

// Freeze holds back what is said until [Links.Heal], which lets it arrive: an outage that TCP survives. Connections
// that are begun meanwhile are reset by Heal, as after Cut.
func (ls Links) Freeze() { ls.stop(false) }

func (ls Links) stop(doomed bool) {
	for _, l := range ls {
		l.mu.Lock()
		if l.passing {
			l.passing = false
			l.open = make(chan struct{})
		}
		l.mu.Unlock()
		if doomed {
			l.proxy.doom()
		}
	}
	for _, l := range ls {
		l.settle()
	}
}

// Delay has everything that is said from now on arrive so much later.
func (ls Links) Delay(d time.Duration) {
	for _, l := range ls {
		l.mu.Lock()
		l.delay = d
		l.mu.Unlock()
	}
}

// Reset breaks the connections that there are, and both ends notice. New ones can be made.
func (ls Links) Reset() {
	for _, p := range ls.proxies() {
		p.reset(func(*relay) bool { return true })
	}
}

// Heal makes the links whole again: no silence, no delay.
func (ls Links) Heal() {
	for _, p := range ls.proxies() {
		p.reset(func(r *relay) bool { return r.doomed })
	}
	for _, l := range ls {
		l.mu.Lock()
		l.delay = 0
		if !l.passing {
			l.passing = true
			close(l.open)
		}
		l.mu.Unlock()
	}
}

func (ls Links) proxies() []*proxy {
	var all []*proxy
	for _, l := range ls {
		if !slices.Contains(all, l.proxy) {
			all = append(all, l.proxy)
		}
	}
	return all
}
