package cause

// A tally says on what the time of a loss was spent, from the last proof that the session lives to the end of leases.
type tally struct {
	stopped, suspended int64 // by timers that ran late, and how much of that the machine was suspended
	stood, slept       int64 // the same, also after the time was up
	unanswered         int64 // waiting for a renewal, while nothing came
	late               int64 // waiting for a renewal, while other answers came, or until a late answer
	apart              int64 // without a connection
	before             int64 // the part of these three that came before the first late timer
	attempts           attempts
	stops              []stretch // in which the process did not run

	silent  uint8 // the server that was waited for longest
	pending int64 // how long
	took    int64 // the slowest late answer
	since   int64 // when the trouble began
}

// A stretch is a part of the time in which one thing lasted.
type stretch struct{ from, to int64 }

func (s stretch) in(other stretch) int64 { return max(0, min(s.to, other.to)-max(s.from, other.from)) }

// A walk goes through the events of a record, and notes each stretch as it ends.
type walk struct {
	tally
	loss   *Loss
	window stretch

	connected bool
	waiting   bool  // for the answer to a renewal
	from      int64 // when the present stretch began
	server    uint8
}

// measure adds up.
func measure(r *Record, l *Loss) *tally {
	w := walk{loss: l, window: stretch{l.From, min(l.At, l.Until)}}
	w.since = l.At
	w.stop(r)
	w.from = l.From
	for _, e := range r.Events {
		w.step(e)
	}
	switch {
	case w.waiting && l.Heard:
		w.note(&w.late, l.At)
	case w.waiting:
		w.note(&w.unanswered, l.At)
	case !w.connected:
		w.note(&w.apart, l.At)
	}
	if a := r.Trying; a.Active && !w.connected && a.Since < l.At {
		code := Timeout
		if a.Reached {
			code = Silent
		}
		w.attempts.add(Event{Server: a.Server, Code: code, Count: 1})
	}
	return &w.tally
}

// stop finds the time in which the process did not run.
func (w *walk) stop(r *Record) {
	for _, e := range r.Events {
		if e.Kind != Late {
			continue
		}
		s := stretch{e.At - e.A, e.At}
		spent := s.in(w.window)
		if spent <= 0 {
			continue
		}
		w.stops = append(w.stops, s)
		w.stopped += spent
		w.stood += e.A
		w.slept += e.B
		if e.B > e.A/2 {
			w.suspended += spent
		}
	}
}

func (w *walk) step(e Event) {
	switch e.Kind {
	case Began:
		w.connected, w.waiting, w.from = false, false, e.At
		w.attempts = attempts{}
	case Attached:
		if !w.connected {
			w.attach(e)
		}
		w.connected, w.waiting = true, false
	case Renewed:
		if !w.waiting {
			w.waiting, w.from, w.server = true, e.At, e.Server%(servers+1)
		}
	case Answered:
		if w.waiting && e.A >= w.loss.Timeout/noticeable {
			w.took = max(w.took, e.A)
			w.note(&w.late, e.At)
		}
		w.waiting = false
	case GaveUp:
		w.leave(e.At, e.A != 0)
	case Detached:
		w.leave(e.At, e.Code == Overdue)
	case Failed:
		if e.A > w.window.from {
			w.attempts.add(e)
		}
	case Late, Ended:
	}
}

// attach ends the time without a connection. A handshake that took long was answered late.
func (w *walk) attach(e Event) {
	shook := e.At
	if e.A >= w.loss.Timeout/noticeable {
		shook = e.At - e.A
	}
	w.note(&w.apart, max(shook, w.from))
	if shook < e.At {
		w.took = max(w.took, e.A)
		w.from = max(shook, w.from)
		w.note(&w.late, e.At)
	}
}

// leave ends a connection.
func (w *walk) leave(at int64, heard bool) {
	switch {
	case !w.connected:
		return
	case w.waiting && heard:
		w.note(&w.late, at)
	case w.waiting:
		w.note(&w.unanswered, at)
	}
	w.connected, w.waiting, w.from = false, false, at
}

// note ends a stretch: it counts as far as the process ran.
func (w *walk) note(spent *int64, to int64) {
	s := stretch{max(w.from, w.window.from), min(to, w.window.to)}
	if s.to <= s.from {
		return
	}
	if spent != &w.apart {
		s.from = w.waitedFrom(s)
	}
	ran := s.to - s.from
	for _, stop := range w.stops {
		ran -= stop.in(s)
	}
	ran = max(0, ran)
	*spent += ran
	w.since = min(w.since, s.from)
	if len(w.stops) == 0 || s.from < w.stops[0].from {
		w.before += ran
	}
	if spent != &w.apart && s.to-s.from > w.pending {
		w.silent, w.pending = w.server, s.to-s.from
	}
}

// waitedFrom is when a wait for a renewal began to count. A process that stops during one cannot take the answer, and
// whether it stopped right after it sent the renewal, or when its next timer was due, cannot be known.
func (w *walk) waitedFrom(s stretch) int64 {
	for _, stop := range w.stops {
		if s.from <= stop.from && stop.from < s.to && stop.from-s.from <= w.loss.Timeout/3 {
			return min(s.to, stop.to)
		}
	}
	return s.from
}
