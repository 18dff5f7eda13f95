package zktest

import (
	"runtime"
	"sync"
)

// processors is the limit of this process to one processor, which bubbles that
// run at the same time share.
var processors struct {
	sync.Mutex
	bubbles int // how many bubbles need the limit
	before  int // processors before the first of them
}

// useOneProcessor has the process use one processor under the race detector
// until end is called; if there are several calls, until the last end.
//
// All timers of a bubble have one context in the race detector, which is made
// for one thread. Yet two may use it: a timer fires on the thread of the
// bubble's clock, or, if it is due already, on that of a goroutine that looks at
// its channel. Then the detector's stack of calls has a wrong length, and the
// process ends with SIGSEGV (golang/go#78156, up to Go 1.26 at least). A timer
// keeps its processor while it fires, so one processor fires one at a time.
func useOneProcessor() (end func()) {
	if !raceDetector {
		return func() {}
	}
	processors.Lock()
	defer processors.Unlock()
	if processors.bubbles == 0 {
		processors.before = runtime.GOMAXPROCS(1)
	}
	processors.bubbles++
	return func() {
		processors.Lock()
		defer processors.Unlock()
		if processors.bubbles--; processors.bubbles == 0 {
			runtime.GOMAXPROCS(processors.before)
		}
	}
}
