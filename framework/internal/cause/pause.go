package cause

// A stretch is a part of the time in which one thing lasted.
type stretch struct{ from, to int64 }

func (s stretch) in(other stretch) int64 { return max(0, min(s.to, other.to)-max(s.from, other.from)) }

// A pause is a stretch in which the process did not run, and for how long of it the machine was suspended.
type pause struct {
	stretch
	slept int64
}

// stop finds the time in which the process did not run. What ended before the newest answered renewal was sent has
// healed: the process had the time to renew.
func (w *walk) stop(r *Record) {
	proven := w.window.from
	for _, e := range r.Events {
		if e.Kind == Answered {
			proven = max(proven, e.At-e.A)
		}
	}
	for _, e := range r.Events {
		p := pause{stretch{e.At - e.A, e.At}, e.slept()}
		if e.Kind != Late || p.in(w.window) <= 0 {
			continue
		}
		w.stops = append(w.stops, p)
		w.all.stop(p, w.window)
		if p.to > proven {
			w.unhealed = append(w.unhealed, p)
			w.fresh.stop(p, w.window)
		}
	}
}

func (s *spent) stop(p pause, window stretch) {
	in := p.in(window)
	s.stopped += in
	if p.slept > (p.to-p.from)/2 {
		s.suspended += in
	}
}

// hidden is how much of a wait that began at from counts from later on, without the time of pauses.
func (w *walk) hidden(from, later int64) int64 {
	s := stretch{from, later}
	hid := max(0, later-from)
	for _, p := range w.stops {
		hid -= p.in(s)
	}
	return max(0, hid)
}

// waitedFrom is when a wait for a renewal began to count. A process that stops during one cannot take the answer, and
// whether it stopped right after it sent the renewal, or when its next timer was due, cannot be known. A pause shorter
// than the wait before it explains no such wait.
func (w *walk) waitedFrom(s stretch) int64 {
	for _, p := range w.stops {
		before := p.from - s.from
		if before >= 0 && p.from < s.to && before <= min(w.loss.Timeout/3, p.to-p.from) {
			return min(s.to, p.to)
		}
	}
	return s.from
}
