package cause

// A walk goes through the events of a record, and notes each stretch as it ends.
type walk struct {
	tally
	loss   *Loss
	window stretch

	opening   bool // the session's first handshake has had no answer yet
	connected bool
	waiting   bool  // for the answer to a renewal
	from      int64 // when the present stretch began
	server    uint8
	lead      lead
	left      bool // a server that answered no renewal
}

// A lead is the silence in which the last connection ended.
type lead struct {
	from   int64
	ran    int64 // how much of it counts
	server uint8
	slow   bool     // the server had answered something after the renewal
	tried  attempts // since then
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
	// An attempt that has only just begun says nothing.
	if a := r.Trying; a.Active && !w.connected && a.Since < l.At && l.At-a.Since >= l.Timeout/worth {
		code := Timeout
		if a.Reached && l.At-a.Until >= a.Until-a.Since {
			code = Silent
		}
		w.try(Event{Server: a.Server, Code: code, N: 1})
	}
	switch {
	case w.waiting && l.Heard:
		w.note(late, l.At)
	case w.waiting:
		w.note(w.silence(l.At), l.At)
	case !w.connected:
		w.note(w.without(), l.At)
	}
	return &w.tally
}

func (w *walk) step(e Event) {
	switch e.Kind {
	case Began:
		w.opening, w.connected, w.waiting, w.from, w.lead, w.left = true, false, false, e.At, lead{}, false
		w.tried, w.triedSince = attempts{}, attempts{}
	case Attached:
		if !w.connected {
			w.attach(e)
		}
		w.opening, w.connected, w.waiting = false, true, false
	case Renewed:
		if !w.waiting {
			w.waiting, w.from, w.server = true, e.At, e.Server%(servers+1)
		}
		w.connected = true // also if the ring has no older event
	case Answered:
		w.answer(e)
	case GaveUp:
		w.leave(e.At, e.N != 0, e.A)
	case Detached:
		w.leave(e.At, e.Code == Overdue, 0)
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
	w.lead.tried.add(e)
}

// A server that answered pings, but no renewal, may have fallen silent after the ping. If then it or another one takes
// the session and answers no renewal either, or another one takes a connection and answers no handshake, they wait for
// the same leader, or for a majority: servers do not fall silent one after the other, each at that moment. Either is an
// answer that comes too late, or not yet.

// silence is what a wait until then is for a server that has answered nothing since the renewal. A server that has only
// just taken the session may be about to answer.
func (w *walk) silence(to int64) trouble {
	switch {
	case w.lead.slow:
		return late
	case w.left && to-w.from >= w.loss.Timeout/5:
		w.retaken = true
		return late
	}
	return unanswered
}

// without is what the time without a connection is.
func (w *walk) without() trouble {
	if w.lead.slow && w.lead.tried.mute(w.lead.server) {
		return late
	}
	return apart
}

// answer ends a wait. What went before an answer in time has healed.
func (w *walk) answer(e Event) {
	switch {
	case e.A < w.loss.Timeout/noticeable:
		w.heal()
	case w.waiting:
		w.took = max(w.took, e.A)
		w.note(late, e.At)
	}
	w.connected, w.waiting = true, false
}

// heal forgets what went before: leases were renewed since.
func (w *walk) heal() {
	w.fresh = spent{stopped: w.fresh.stopped, suspended: w.fresh.suspended}
	w.triedSince, w.doubtful, w.retaken = attempts{}, false, false
	w.before, w.after, w.pending, w.lead, w.left = 0, 0, 0, lead{}, false
	w.since = [troubles]int64{w.loss.At, w.loss.At, w.loss.At}
}

// attach ends the time without a connection. A handshake that took long was answered late.
func (w *walk) attach(e Event) {
	shook := e.At
	if e.A >= w.loss.Timeout/noticeable {
		shook = e.At - e.A
	}
	w.note(w.without(), max(shook, w.from))
	if shook < e.At {
		w.took = max(w.took, e.A)
		w.from = max(shook, w.from)
		w.note(late, e.At)
	} else if w.opening { // the handshake of a new session renews its leases
		w.heal()
	}
}

// leave ends a connection whose server has been silent for so long. heard says that it answered something while it was
// waited for. Silent after that, it may be slow, or gone: the time after it says which.
func (w *walk) leave(at int64, heard bool, silent int64) {
	if !w.connected {
		return
	}
	next := lead{}
	switch {
	case w.waiting && heard:
		ran := w.note(late, at)
		if silent >= w.loss.Timeout/noticeable {
			next = lead{from: max(w.window.from, at-silent), ran: min(ran, silent), server: w.server, slow: true}
		}
	case w.waiting:
		what := w.silence(at)
		ran := w.note(what, at)
		next = lead{from: w.since[what], ran: ran, server: w.server, slow: what == late}
	}
	w.lead, w.left = next, w.left || w.waiting && at-w.from >= w.loss.Timeout/noticeable
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
	case what != apart && w.connected && s.to-s.from > w.pending:
		w.silent, w.pending = w.server, s.to-s.from
	case what == apart && w.lead.slow && w.lead.tried.any(Silent):
		w.doubtful = true
	case what == apart && ran >= w.loss.Timeout/noticeable/2 && w.lead.ran > 0:
		w.all.led += w.lead.ran
		w.fresh.led += w.lead.ran
		w.since[apart] = min(w.since[apart], w.lead.from)
		w.leader, w.lead = w.lead.server, lead{}
	}
	return ran
}
