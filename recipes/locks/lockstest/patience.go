package lockstest

import "time"

// Only in a bubble does a law judge how long something took. In real time it waits for what must happen, for longer
// than a busy machine needs, and compares what the servers and the leases say.

// limit is longer than anything that is promised.
func (w *world) limit() time.Duration { return 10*w.server.SessionTimeout() + 30*time.Second }

// patience ends after limit.
func (w *world) patience() <-chan time.Time { return time.After(w.limit()) }

// soon wants something to have taken no longer than most, in a bubble.
func (w *world) soon(what string, took, most time.Duration) {
	w.t.Helper()
	if w.exact && took > most {
		w.t.Errorf("%s took %v, want at most %v", what, took, most)
	}
}

// took wants a call that began then to have ended after d: in a bubble hardly later, elsewhere not before.
func (w *world) took(what string, begun time.Time, d time.Duration) {
	w.t.Helper()
	took := time.Since(begun)
	if took < d {
		w.t.Errorf("%s took %v, want %v", what, took, d)
	}
	w.soon(what, took, d+w.server.SessionTimeout()/4)
}

// tries runs the course of a law until it reports that what it presupposes was so. In a bubble it is, the first time.
// In real time the machine may have been too busy: an outage outlasts the session, or a limit passes before the law has
// come that far. Then the course has judged nothing.
func (w *world) tries(course func() (judged bool)) {
	w.t.Helper()
	most := 10
	if w.exact {
		most = 1
	}
	for range most {
		if course() {
			return
		}
	}
	w.t.Fatalf("what the law presupposes was not so, %d times", most)
}
