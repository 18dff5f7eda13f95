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
	doubtful   bool            // a server was silent after an answer, and took a connection then: it is slow, or gone
	retaken    bool            // a server took the session after one had answered no renewal, and answered none either
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
	led                int64 // the silence that came just before a time without a connection
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

// longest is how long a renewal was waited for at least.
func (t *tally) longest() int64 {
	if t.pending > 0 {
		return t.pending
	}
	return t.all.of[late]
}
