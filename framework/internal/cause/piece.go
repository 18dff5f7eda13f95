package cause

// A stretch is a part of the time.
type stretch struct{ from, to int64 }

func (s stretch) in(other stretch) int64 { return max(0, min(s.to, other.to)-max(s.from, other.from)) }

// A state is what a piece of the time was spent on.
type state uint8

const (
	well    state = iota // connected, and no answer is overdue; also what is not known
	silent               // a renewal waits for its answer, and nothing comes
	slow                 // a renewal or a handshake waits for its answer, which comes late, or others come
	apart                // without a connection
	perhaps              // one of these, or the process has stopped already: see pauses
	stopped              // the process did not run
	states               // how many there are
)

// A piece is a part of the time in which one thing lasted.
type piece struct {
	stretch
	state  state
	under  state // what perhaps and stopped were painted over
	began  int64 // when the wait of which this is a part began
	server uint8 // that was waited for
	wait   wait  // what slow waits for
	leads  bool  // nothing came any more, and then the connection ended
	again  bool  // so it was with a server before, and then this one took the session
}

// A wait says what came late.
type wait uint8

const (
	unanswered wait = iota // a renewal, up to the end of its connection or of the time
	renewed                // a renewal
	shaken                 // a handshake
	unshaken               // a handshake, up to the end of its connection or of the time
)

// A pause is a stretch in which the process did not run, and for how long of it the machine was suspended.
type pause struct {
	stretch
	slept int64
}

// pauses are the times in which the process did not run. A machine that was suspended stood still before its timers
// were late.
func pauses(r *Record) (all []pause) {
	ran := int64(-1 << 62)
	for _, e := range r.Events {
		if e.Kind != Late {
			continue
		}
		p := pause{stretch{max(ran, e.At-max(e.A, e.slept())), e.At}, e.slept()}
		if p.from < p.to {
			all, ran = append(all, p), p.to
		}
	}
	return all
}

// pausing lays pauses over the pieces: what seemed to last while the process did not run is not known. Each may have
// begun right after the look at the clock before, unless it was shorter than that.
func pausing(pieces []piece, all []pause, look int64) []piece {
	ran := int64(-1 << 62)
	for _, p := range all {
		pieces = paint(pieces, stretch{max(ran, p.from-min(look, p.to-p.from)), p.from}, perhaps)
		pieces = paint(pieces, p.stretch, stopped)
		ran = p.to
	}
	return pieces
}

// paint gives a stretch of the pieces another state. A time in which nothing was waited for is only a stop's.
func paint(pieces []piece, s stretch, as state) []piece {
	painted := make([]piece, 0, len(pieces)+2)
	for _, p := range pieces {
		in := stretch{max(p.from, s.from), min(p.to, s.to)}
		if in.from >= in.to || p.state == well && as == perhaps {
			painted = append(painted, p)
			continue
		}
		before, after := p, p
		before.to, after.from = in.from, in.to
		if before.from < before.to {
			painted = append(painted, before)
		}
		painted = append(painted, piece{stretch: in, state: as, under: p.state})
		if after.from < after.to {
			painted = append(painted, after)
		}
	}
	return painted
}

// since are the pieces from a time on.
func since(pieces []piece, from int64) (later []piece) {
	for _, p := range pieces {
		if p.from = max(p.from, from); p.from < p.to {
			later = append(later, p)
		}
	}
	return later
}

// follows reports whether the pieces begin with a time without a connection that is worth a word, apart from pauses.
func follows(pieces []piece, worth int64) bool {
	var ran int64
	for _, p := range pieces {
		switch p.state {
		case apart:
			ran += p.to - p.from
		case perhaps, stopped:
		default:
			return ran >= worth
		}
	}
	return ran >= worth
}

// unbroken is how long the newest pieces lasted in which nothing came: of one server's silence, or of a time without a
// connection with the silence that led to it. Pauses do not count.
func unbroken(pieces []piece, what state) (lasted int64) {
	for i := len(pieces) - 1; i >= 0; i-- {
		switch p := pieces[i]; {
		case p.state == perhaps && p.under != well, p.state == stopped:
		case p.state == what:
			lasted += p.to - p.from
		case what == apart && p.leads && lasted > 0:
			for ; i >= 0 && (pieces[i].leads || pieces[i].state >= perhaps); i-- {
				if pieces[i].leads {
					lasted += pieces[i].to - pieces[i].from
				}
			}
			return lasted
		default:
			return lasted
		}
	}
	return lasted
}
