package cause

// A tally says on what the time of a loss was spent, from the last proof that the session lives to the end of leases.
type tally struct {
	all   spent
	fresh spent // without what was over before a renewal that was answered in time: that has healed

	stops         []pause // in which the process did not run
	unhealed      []pause // those of them that are fresh
	before, after int64   // the fresh time without answers before the first fresh pause, and after the last

	tried      attempts
	triedSince attempts        // those that are fresh
	silent     uint8           // the server that was waited for longest
	pending    int64           // how long
	leader     uint8           // the server that fell silent before the client had no connection
	took       int64           // the slowest late answer
	since      [troubles]int64 // when each fresh trouble began
}

// A trouble is what kept a process that ran from answers.
type trouble uint8

const (
	unanswered trouble = iota // waiting for a renewal, while nothing came
	late                      // waiting for a renewal, while other answers came, or until a late answer
	apart                     // without a connection
	troubles                  // how many there are, and none of them
)

// A spent is how long each thing lasted.
type spent struct {
	stopped, suspended int64 // by timers that ran late, and how much of that the machine was suspended
	hidden             int64 // waiting for a renewal until a pause, which may have begun before its timer was due
	of                 [troubles]int64
	led                int64 // the part of unanswered that came just before a time without a connection
}

// cut is for how long a process that ran had no answers.
func (s *spent) cut() int64 { return s.of[unanswered] + s.of[late] + s.of[apart] }

// most is the trouble that accounts for most of the time, or troubles. A server that falls silent before others are not
// reached may as well have been cut off with them: that time goes with the time without a connection.
func (s *spent) most() trouble {
	enough := max(1, (s.stopped+s.cut())*3/5)
	switch {
	case s.of[apart] > 0 && s.of[apart]+s.led >= enough:
		return apart
	case s.of[late] >= enough:
		return late
	case s.of[unanswered] >= enough:
		return unanswered
	}
	return troubles
}

// A stretch is a part of the time in which one thing lasted.
type stretch struct{ from, to int64 }

func (s stretch) in(other stretch) int64 { return max(0, min(s.to, other.to)-max(s.from, other.from)) }

// A pause is a stretch in which the process did not run, and for how long of it the machine was suspended.
type pause struct {
	stretch
	slept int64
}

// A walk goes through the events of a record, and notes each stretch as it ends.
type walk struct {
	tally
	loss   *Loss
	window stretch

	connected bool
	waiting   bool  // for the answer to a renewal
	from      int64 // when the present stretch began
	server    uint8
	lead      int64 // for how long the server of the connection that ended last had been silent
	leading   uint8 // that server
}

// measure adds up.
func measure(r *Record, l *Loss) *tally {
	w := walk{loss: l, window: stretch{l.From, min(l.At, l.Until)}}
	w.since = [troubles]int64{l.At, l.At, l.At}
	w.stop(r)
	w.from = l.From
	for _, e := range r.Events {
		w.step(e)
	}
	switch {
	case w.waiting && l.Heard:
		w.note(late, l.At)
	case w.waiting:
		w.note(unanswered, l.At)
	case !w.connected:
		w.note(apart, l.At)
	}
	if a := r.Trying; a.Active && !w.connected && a.Since < l.At {
		code := Timeout
		if a.Reached && l.At-a.Until >= a.Until-a.Since {
			code = Silent
		}
		w.try(Event{Server: a.Server, Code: code, Count: 1})
	}
	return &w.tally
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
		p := pause{stretch{e.At - e.A, e.At}, e.B}
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

func (w *walk) step(e Event) {
	switch e.Kind {
	case Began:
		w.connected, w.waiting, w.from, w.lead = false, false, e.At, 0
		w.tried, w.triedSince = attempts{}, attempts{}
	case Attached:
		if !w.connected {
			w.attach(e)
		}
		w.connected, w.waiting = true, false
	case Renewed:
		if !w.waiting {
			w.waiting, w.from, w.server = true, e.At, e.Server%(servers+1)
		}
		w.connected = true // also if the ring has no older event
	case Answered:
		w.answer(e)
	case GaveUp:
		w.leave(e.At, e.A != 0)
	case Detached:
		w.leave(e.At, e.Code == Overdue)
	case Failed:
		if e.A > w.window.from {
			w.try(e)
		}
	case Late, Ended:
	}
}

func (w *walk) try(e Event) {
	w.tried.add(e)
	w.triedSince.add(e)
}

// answer ends a wait. What went before an answer in time has healed.
func (w *walk) answer(e Event) {
	switch {
	case e.A < w.loss.Timeout/noticeable:
		w.fresh = spent{stopped: w.fresh.stopped, suspended: w.fresh.suspended}
		w.triedSince = attempts{}
		w.before, w.after, w.pending, w.lead = 0, 0, 0, 0
		w.since = [troubles]int64{w.loss.At, w.loss.At, w.loss.At}
	case w.waiting:
		w.took = max(w.took, e.A)
		w.note(late, e.At)
	}
	w.connected, w.waiting = true, false
}

// attach ends the time without a connection. A handshake that took long was answered late.
func (w *walk) attach(e Event) {
	shook := e.At
	if e.A >= w.loss.Timeout/noticeable {
		shook = e.At - e.A
	}
	w.note(apart, max(shook, w.from))
	if shook < e.At {
		w.took = max(w.took, e.A)
		w.from = max(shook, w.from)
		w.note(late, e.At)
	}
}

// leave ends a connection.
func (w *walk) leave(at int64, heard bool) {
	if !w.connected {
		return
	}
	w.lead = 0
	switch {
	case w.waiting && heard:
		w.note(late, at)
	case w.waiting:
		w.lead, w.leading = w.note(unanswered, at), w.server
	}
	w.connected, w.waiting, w.from = false, false, at
}

// note ends a stretch, and returns how much of it counts: as far as the process ran.
func (w *walk) note(what trouble, to int64) (ran int64) {
	s := stretch{max(w.from, w.window.from), min(to, w.window.to)}
	if s.to <= s.from {
		return 0
	}
	if what != apart {
		from := w.waitedFrom(s)
		w.all.hidden += w.hidden(s.from, from)
		w.fresh.hidden += w.hidden(s.from, from)
		s.from = from
	}
	ran = s.to - s.from
	for _, p := range w.stops {
		ran -= p.in(s)
	}
	ran = max(0, ran)
	w.all.of[what] += ran
	w.fresh.of[what] += ran
	w.since[what] = min(w.since[what], s.from)
	if n := len(w.unhealed); n > 0 {
		w.before += s.in(stretch{s.from, w.unhealed[0].from})
		w.after += s.in(stretch{w.unhealed[n-1].to, s.to})
	}
	switch {
	case what != apart && s.to-s.from > w.pending:
		w.silent, w.pending = w.server, s.to-s.from
	case what == apart && ran >= w.loss.Timeout/noticeable/2 && w.lead > 0:
		w.all.led += w.lead
		w.fresh.led += w.lead
		w.leader, w.lead = w.leading, 0
		w.since[apart] = min(w.since[apart], w.since[unanswered])
	}
	return ran
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

// longest is how long a renewal was waited for at least.
func (t *tally) longest() int64 {
	if t.pending > 0 {
		return t.pending
	}
	return t.all.of[late]
}
