//go:build linux

package main_test

import (
	"sync"
	"time"
)

// delays are the delays of a timer of this process, which a busy machine holds up as it does the library's.
var delays struct {
	sync.Mutex
	once sync.Once
	all  []delay
}

type delay struct {
	until time.Time
	by    time.Duration
}

// watchDelays begins to look at how late timers are.
func watchDelays() {
	delays.once.Do(func() {
		go func() {
			const pause = 5 * time.Millisecond
			for last := time.Now(); ; {
				time.Sleep(pause)
				now := time.Now()
				if by := now.Sub(last) - pause; by > pause {
					delays.Lock()
					delays.all = append(delays.all, delay{now, by})
					delays.Unlock()
				}
				last = now
			}
		}()
	})
}

// delayed is by how much a timer has been late since then, at most.
func delayed(since time.Time) (most time.Duration) {
	delays.Lock()
	defer delays.Unlock()
	for _, d := range delays.all {
		if d.until.After(since) {
			most = max(most, d.by)
		}
	}
	return most
}
