package cause

// A walk cuts the time of a loss into pieces, event by event. They cover it, and each has one state.
type walk struct {
	loss   *Loss
	window stretch
	pieces []piece

	now    piece // the one that lasts
	known  bool  // an event has said how the connection stands
	lead   lead
	left   bool   // a server that had answered nothing since its renewal
	failed *Event // the newest failed attempt of this time without a connection
	since  int64  // when the newest attempt failed, or the connection ended

	healed int64 // when the newest renewal was sent that was answered in time: what was before is over
	usual  int64 // how long renewals took that were answered in time, at most
	tried  []try
}

// A lead is how the newest connection ended. A server that answers pings, but no renewal, may have fallen silent after
// the ping. If then a server takes the session and answers no renewal either, or another one takes a connection and
// answers no handshake, they wait for a leader or a majority, because servers do not fall silent one after the other.
// Either is an answer that comes too late, or not yet.
type lead struct {
	slow   bool // so it was
	server uint8
	tried  int // how many attempts there had been
}

// others reports whether other servers took connections then and did not answer, and no attempt ended otherwise.
func (w *walk) others() (mute bool) {
	for _, t := range w.tried[w.lead.tried:] {
		if t.code != Silent {
			return false
		}
		mute = mute || t.server != w.lead.server
	}
	return mute && w.lead.slow
}

// look goes through the events of a record.
func look(r *Record, l *Loss) *walk {
	w := &walk{loss: l, window: stretch{l.From, min(l.At, l.Until)}, healed: l.From}
	w.now.from, w.since = l.From, l.From
	for i := range r.Events {
		w.step(&r.Events[i])
	}
	if w.now.state == silent && (l.Heard || w.lead.slow) {
		w.now.state = slow
	}
	if a := r.Trying; !w.known && a.Active {
		w.now.state = apart
	}
	if w.now.state == apart {
		w.underWay(&r.Trying)
		w.apart()
	}
	w.next(w.window.to, piece{})
	return w
}

// next ends the present piece. Another begins.
func (w *walk) next(at int64, p piece) {
	at = max(w.now.from, min(at, w.window.to))
	if w.now.to = at; w.now.from < at {
		w.pieces = append(w.pieces, w.now)
	}
	p.from, p.began = at, at
	w.now = p
}

// was ends a part of the present piece of which an event says later what it was.
func (w *walk) was(to int64, p piece) {
	rest := w.now
	w.now = p
	w.next(to, rest)
	w.now.began = rest.began
}

func (w *walk) step(e *Event) {
	slowly := e.A >= w.loss.Timeout/noticeable
	server := e.Server % (servers + 1)
	switch e.Kind {
	case Began:
		w.next(e.At, piece{})
		w.known, w.failed = false, nil
	case Attached:
		shook := w.now.state == apart && slowly
		w.apart()
		if shook {
			w.next(e.At-e.A, piece{state: slow, server: server, wait: shaken})
		}
		w.next(e.At, piece{})
		w.known, w.failed = true, nil
	case Renewed:
		if w.now.state != silent {
			w.next(e.At, piece{state: silent, server: server, again: w.left})
		}
		w.known = true // also if the record has no older event
	case Answered:
		w.answer(e, slowly)
	case GaveUp:
		if w.now.state == silent {
			w.leave(e)
			w.next(e.At, piece{state: perhaps}) // what reads ends the connection right away, if it runs
		}
	case Detached:
		w.detach(e)
	case Failed:
		w.fail(e)
	case Late, Ended:
	}
}

func (w *walk) answer(e *Event, slowly bool) {
	switch {
	case !slowly:
		w.healed, w.usual = max(w.healed, e.At-e.A), max(w.usual, e.A)
		if w.now.state == silent {
			w.now.state = well
		}
		w.lead, w.left = lead{}, false
	case w.now.state == silent:
		w.now.state, w.now.wait = slow, renewed
	case w.now.state == well:
		w.next(e.At-e.A, piece{state: slow, server: e.Server % (servers + 1), wait: renewed})
	}
	w.next(e.At, piece{})
	w.known = true
}

// leave ends the wait for a renewal with its connection. A server that answered something else is slow. Silent after
// that, it may be slow, or gone: the time after it says which.
func (w *walk) leave(e *Event) {
	if w.now.state == silent {
		switch heard := e.At - e.A; {
		case e.N == 0 && e.Code != Overdue:
			w.now.leads = true
			w.left = w.left || e.At-w.now.from >= w.loss.Timeout/noticeable
			if w.lead.slow {
				w.now.state = slow
			}
		case e.N != 0 && e.A >= w.loss.Timeout/noticeable:
			w.now.state = slow
			w.was(heard, w.now)
			w.now.leads = true
		default:
			w.now.state = slow
		}
	}
	w.lead = lead{slow: w.now.state == slow && w.now.leads, server: w.now.server, tried: len(w.tried)}
}

// detach ends a connection.
func (w *walk) detach(e *Event) {
	switch w.now.state {
	case apart:
		return
	case perhaps: // the client has left it
	default:
		w.leave(e)
	}
	w.next(e.At, piece{state: apart})
	w.known, w.failed, w.since = true, nil, e.At
}

// apart ends a time without a connection.
func (w *walk) apart() {
	if w.now.state == apart && w.others() {
		w.now.state, w.now.wait = slow, unshaken
	}
}

func (w *walk) fail(e *Event) {
	if !w.known {
		w.now.state, w.known = apart, true
	}
	w.since = max(w.since, e.A)
	if w.failed == nil || e.A >= w.failed.A {
		w.failed = e
	}
	w.tried = append(w.tried, try{
		server: e.Server, code: e.Code, newest: e.A, time: e.lasted(), extent: max(0, e.A-e.At) + e.lasted()/max(1, int64(e.Times)),
	})
}

// underWay adds what has no outcome yet: an attempt, or the pause after the newest that failed.
func (w *walk) underWay(a *Trying) {
	end := w.window.to
	lasts := end - max(w.since, w.window.from)
	t := try{server: a.Server, code: Timeout, newest: end, time: lasts, extent: lasts}
	switch {
	case a.Active && a.Stage == Authenticating:
		t.code = SASL
	case a.Active && a.Stage == Shaking && end-a.Until >= a.Until-a.Since:
		t.code = Silent
	case a.Active:
	case w.failed == nil:
		return
	default:
		t.server, t.code = w.failed.Server, w.failed.Code
		t.time = min(lasts, longestPause)
		t.extent = t.time
	}
	if t.time >= w.loss.Timeout/worth || !a.Active && t.time > 0 {
		w.tried = append(w.tried, t)
	}
}
