package cause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocurator/curator/framework/session"
)

// A sum is what a part of the time of a loss was spent on.
type sum struct {
	pieces []piece
	of     [states]int64
	led    [states]int64 // the part of it that came just before a time without a connection
	worst  piece         // a part of the longest wait for a server that is slow
	waited int64         // how long that wait was
	worth  int64         // what is worth a word
	least  int64         // what may be named
	tries  outcomes
	again  int64 // how long servers were silent that had taken the session from a silent one
}

// sumSince adds up from a time on.
func sumSince(from int64, r *Record, l *Loss, pieces []piece, tried []try) *sum {
	pieces = since(pieces, from)
	s := &sum{pieces: pieces, worth: l.Timeout / worth, least: l.Timeout / noticeable}
	var waited, began int64 // for one answer, in pieces
	for i, p := range pieces {
		s.of[p.state] += p.to - p.from
		if p.leads && follows(pieces[i+1:], l.Timeout/looks) {
			s.led[p.state] += p.to - p.from
		}
		if p.state == silent && p.again {
			s.again += p.to - p.from
		}
		if p.state != slow || p.wait == unshaken {
			continue
		}
		if p.began != began {
			waited, began = 0, p.began
		}
		if waited += p.to - p.from; waited > s.waited {
			s.waited, s.worst = waited, p
		}
	}
	tried = slices.DeleteFunc(slices.Clone(tried), func(t try) bool { return t.newest <= from })
	s.tries = outcomesOf(r, tried, s.of[apart])
	return s
}

// all is the time in which something was wrong.
func (s *sum) all() (all int64) {
	for state := silent; state < states; state++ {
		all += s.of[state]
	}
	return all
}

// cut is how much of that the client had no connection, with the silence that led to it. The silence of a server that
// answered others before may also be a slow server's: it counts unless there was more of that.
func (s *sum) cut() int64 {
	cut := s.of[apart] + s.led[silent]
	if s.of[slow]-s.led[slow] < s.least {
		cut += s.led[slow]
	}
	return cut
}

// most is the state that has most of the time, and whether there is one, alone. What is not known counts for none.
func (s *sum) most() (most state, alone bool) {
	enough := max(1, s.least, enough(s.all()))
	if s.of[apart] > 0 && s.cut() >= enough {
		return apart, s.of[silent] < enough && (s.of[slow] < enough || s.of[slow]-s.led[slow] < s.least)
	}
	for _, state := range []state{silent, slow, stopped} {
		if s.of[state] >= enough {
			return state, true
		}
	}
	return well, false
}

// beside is how long something else was wrong than pauses, and how much of that after the last that is worth a word. A
// pause that began earlier than is known explains that a renewal waited for its answer, but not that the connection had
// ended.
func (s *sum) beside() (all, after int64) {
	for i, p := range s.pieces {
		switch {
		case p.state == stopped:
			if p.to-p.from >= s.worth || i == len(s.pieces)-1 {
				after = 0
			}
		case p.state != well && (p.state != perhaps || p.under == apart):
			all += p.to - p.from
			after += p.to - p.from
		}
	}
	return all, after
}

// mute are the servers that answered nothing: some of them no handshake.
func (s *sum) mute(r *Record, unshaken []string) []string {
	var long [servers + 1]int64
	for _, p := range s.pieces {
		if p.state == silent || p.leads {
			long[p.server] += p.to - p.from
		}
	}
	names := slices.Clone(unshaken)
	for i, d := range long {
		if d > 0 && d >= s.worth && !slices.Contains(names, r.Servers[i]) {
			names = append(names, r.Servers[i])
		}
	}
	slices.Sort(names)
	return names
}

// away says what kept the client without a connection, and how it came to that.
func (s *sum) away(r *Record) (session.LossKind, string) {
	kind, lasted, sentence := s.tries.verdict(s.of[apart])
	led := s.cut() - s.of[apart]
	if kind == session.LossNotReached && s.tries.reached >= s.least/2 {
		led = 0 // the servers were not gone then
	}
	doubtful := kind == session.LossNotAnswered && s.led[slow] > 0 // slow, or gone
	if doubtful || led+lasted < enough(s.all()) {
		return session.LossUnknown, ""
	}
	cut := led + s.of[apart]
	first := unbroken(s.pieces, apart) >= cut
	missed := strings.Join(s.tries.at[away], ", ")
	switch {
	case led == 0:
	case kind == session.LossNotAnswered:
		sentence = s.silence(r, s.tries.at[mute], cut, first)
		if missed != "" {
			sentence += "; not reached: " + missed
		}
	case kind == session.LossNotReached && first:
		sentence = s.silence(r, nil, cut, first) + ", and no server was reached: " + missed
	}
	return kind, sentence
}

// silence says who answered nothing, some of them no handshake. first says that nothing else came since.
func (s *sum) silence(r *Record, unshaken []string, lasted int64, first bool) string {
	names := s.mute(r, unshaken)
	switch {
	case len(names) != 1:
		return fmt.Sprintf("servers answered nothing for %s: %s", about(lasted), strings.Join(names, ", "))
	case first:
		return fmt.Sprintf("%s stopped answering %s before", names[0], about(lasted))
	default:
		return fmt.Sprintf("%s answered nothing for %s", names[0], about(lasted))
	}
}

// silent is the silence of servers that the client was connected with.
func (s *sum) silent(r *Record) string {
	return s.silence(r, nil, s.of[silent], unbroken(s.pieces, silent) >= s.of[silent])
}

// lateness says what came late.
func (s *sum) lateness(r *Record) string {
	took := about(s.waited)
	switch s.worst.wait {
	case renewed:
		return "renewals were answered only after " + took
	case shaken:
		return "a handshake was answered only after " + took
	default:
		return fmt.Sprintf("%s answered, but no renewal within %s", r.server(s.worst.server), took)
	}
}
