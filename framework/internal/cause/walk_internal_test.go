package cause

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var stateNames = [states]string{"well", "silent", "slow", "apart", "perhaps", "stopped"}

// text prints pieces in seconds of a window, as "well 3-7, apart 7-15".
func text(pieces []piece) string {
	var all []string
	for _, p := range pieces {
		text := fmt.Sprintf("%s %v-%v", stateNames[p.state], time.Duration(p.from).Seconds(), time.Duration(p.to).Seconds())
		if p.leads {
			text += " leads"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// sec is a second of a story.
const sec = int64(time.Second)

func TestEventsCutTheTimeIntoPieces(t *testing.T) {
	for name, test := range map[string]struct {
		events []Event
		heard  bool
		want   string
	}{
		"nothing is known": {nil, false, "well 3-15"},
		"a renewal without an answer": {
			[]Event{{Kind: Attached, At: 1}, {Kind: Renewed, At: 9 * sec}}, false, "well 3-9, silent 9-15",
		},
		"a renewal beside pings": {
			[]Event{{Kind: Attached, At: 1}, {Kind: Renewed, At: 9 * sec}}, true, "well 3-9, slow 9-15",
		},
		"a renewal answered in time": {
			[]Event{{Kind: Renewed, At: 9 * sec}, {Kind: Answered, At: 10 * sec, A: sec}}, false, "well 3-9, well 9-10, well 10-15",
		},
		"a renewal answered late": {
			[]Event{{Kind: Renewed, At: 9 * sec}, {Kind: Answered, At: 13 * sec, A: 4 * sec}}, false, "well 3-9, slow 9-13, well 13-15",
		},
		"a connection that ends in silence": {
			[]Event{{Kind: Renewed, At: 9 * sec}, {Kind: Detached, At: 11 * sec}}, false, "well 3-9, silent 9-11 leads, apart 11-15",
		},
		"a connection that ends after a ping": {
			[]Event{{Kind: Renewed, At: 9 * sec}, {Kind: Detached, At: 11 * sec, A: sec / 2, N: 1}}, false, "well 3-9, slow 9-11, apart 11-15",
		},
		"a connection that ends in a silence after a ping": {
			[]Event{{Kind: Renewed, At: 9 * sec}, {Kind: GaveUp, At: 13 * sec, A: 3 * sec, N: 1}, {Kind: Detached, At: 13 * sec}},
			false, "well 3-9, slow 9-10, slow 10-13 leads, apart 13-15",
		},
		"a handshake that takes long": {
			[]Event{{Kind: Attached, At: 1}, {Kind: Detached, At: 5 * sec}, {Kind: Attached, At: 13 * sec, A: 6 * sec}},
			false,
			"well 3-5, apart 5-7, slow 7-13, well 13-15",
		},
		"no event but of attempts": {[]Event{{Kind: Failed, At: 5 * sec, A: 14 * sec}}, false, "apart 3-15"},
		"a stop": {
			[]Event{{Kind: Attached, At: 1}, {Kind: Late, At: 13 * sec, A: 6 * sec}}, false, "well 3-7, stopped 7-13, well 13-15",
		},
		"a stop in a wait": {
			[]Event{{Kind: Renewed, At: 5 * sec}, {Kind: Late, At: 20 * sec, A: 13 * sec}},
			false,
			"well 3-5, silent 5-6, perhaps 6-7, stopped 7-15",
		},
		"a stop of less than the time between looks": {
			[]Event{{Kind: Detached, At: 5 * sec}, {Kind: Late, At: 8 * sec, A: sec / 2}},
			false,
			"well 3-5, apart 5-7, perhaps 7-7.5, stopped 7.5-8, apart 8-15",
		},
		"a suspension that began before the timer was late": {
			[]Event{{Kind: Late, At: 20 * sec, A: 2 * sec, N: uint32(10 * sec / int64(unit))}}, false, "well 3-10, stopped 10-15",
		},
		"two stops": {
			[]Event{{Kind: Late, At: 8 * sec, A: 2 * sec}, {Kind: Late, At: 11 * sec, A: 9 * sec}}, false, "well 3-6, stopped 6-8, stopped 8-11, well 11-15",
		},
	} {
		r := &Record{Events: test.events}
		w := look(r, &Loss{At: 15 * sec, From: 3 * sec, Until: 15 * sec, Timeout: 12 * sec, Heard: test.heard})
		if got := text(pausing(w.pieces, pauses(r), sec)); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// Whatever a record has, the pieces cover the time of the loss, in order, each once; and no sum is longer than it.
func FuzzPiecesCoverTheTime(f *testing.F) {
	f.Add([]byte{10, 0, 2, 0, 50, 0, 3, 0, 90, 9, 6, 1, 110, 110, 7, 1, 200, 99, 8, 0}, int64(3e9), int64(15e9))
	f.Fuzz(func(t *testing.T, events []byte, from, lasts int64) {
		r := &Record{}
		for i := 0; i+3 < len(events) && i < 400; i += 4 {
			b := events[i : i+4]
			r.Events = append(r.Events, Event{
				At: int64(b[0]) * sec / 10, A: int64(b[1]) * sec / 10, N: uint32(b[3]), Kind: Kind(b[2]), Server: b[3], Code: Code(b[3]), Times: b[3],
			})
			r.Trying = Trying{Since: int64(b[0]) * sec / 10, Until: int64(b[1]) * sec / 10, Server: b[2], Stage: Stage(b[3] & 3), Active: b[3]&4 != 0}
		}
		from %= 30 * sec
		lasts = max(0, lasts%(30*sec))
		l := &Loss{At: from + lasts, From: from, Until: from + lasts, Timeout: 12 * sec, Heard: len(events)%2 != 0}
		tally := measure(r, l)
		at, total := from, int64(0)
		for _, p := range tally.all.pieces {
			if p.from != at || p.to <= p.from || p.state >= states {
				t.Fatalf("got %s, want pieces that follow each other from %v on", text(tally.all.pieces), time.Duration(from))
			}
			at = p.to
		}
		if at != l.At {
			t.Fatalf("got %s, want pieces up to %v", text(tally.all.pieces), time.Duration(l.At))
		}
		for state, d := range tally.all.of {
			total += d
			if tally.fresh.of[state] > d || tally.all.led[state] > d {
				t.Errorf("%s: got %v of them since the newest answer, and %v before an outage, want at most %v", stateNames[state],
					time.Duration(tally.fresh.of[state]), time.Duration(tally.all.led[state]), time.Duration(d))
			}
		}
		if total != lasts {
			t.Errorf("got %v in all pieces, want %v", time.Duration(total), time.Duration(lasts))
		}
		for _, s := range []*sum{tally.all, tally.fresh} {
			if s.waited > lasts || s.cut() > lasts || unbroken(s.pieces, apart) > lasts {
				t.Errorf("got a wait of %v and a cut of %v, want at most %v", time.Duration(s.waited), time.Duration(s.cut()), time.Duration(lasts))
			}
			for _, lasted := range s.tries.lasted {
				if lasted > s.of[apart] {
					t.Errorf("got attempts for %v, want at most the %v without a connection", time.Duration(lasted), time.Duration(s.of[apart]))
				}
			}
		}
	})
}
