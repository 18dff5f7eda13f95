package contact

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
)

// own asks, and its session is 0x1; 0x2 is the one that is asked about.
var own = Own{Session: 1, Timeout: 30 * time.Second}

var errSilent = errors.New("no answer")

// at is a server's answer to cons and dump. An empty text is none.
func at(name, cons, dump string) Answer {
	a := Answer{Address: name, Connections: fourletter.Connections(cons), Sessions: fourletter.ParseSessions(dump)}
	if cons == "" {
		a.Cons = errSilent
	}
	if dump == "" {
		a.Dump = errSilent
	}
	return a
}

const (
	none = "\n"
	ours = " /10.0.0.1:1[1](sid=0x1,to=30000,lresp=100000)\n"

	follower = "Global Sessions(2):\n0x1\t30000ms\n0x2\t40000ms\nephemeral nodes dump:\n"
)

// theirs is a connection of the session that is asked about, answered at that many milliseconds of the server's clock.
func theirs(lresp int) string {
	return fmt.Sprintf(" /10.0.0.2:7[1](sid=0x2,to=40000,lresp=%d)\n", lresp)
}

// leader is a dump at 12:00:00 on the server: our session ends in 30 s, the other's so many seconds after noon.
func leader(seconds int) string {
	end := time.Date(2026, 11, 24, 12, 0, seconds, 0, time.UTC).Format("Mon Jan 02 15:04:05")
	return "1 expire at Tue Nov 24 12:00:30 CET 2026:\n\t0x1\n1 expire at " + end + " CET 2026:\n\t0x2\nephemeral nodes dump:\n"
}

func TestClientIsJudged(t *testing.T) {
	const gone = "1 expire at Tue Nov 24 12:00:30 CET 2026:\n\t0x1\nephemeral nodes dump:\n"
	for name, c := range map[string]struct {
		answers []Answer
		want    string // state, address, server, timeout, heard, left
	}{
		"at our server": {
			[]Answer{at("a", ours+theirs(98000), "")}, "alive 10.0.0.2:7 a 40s 2s 38s",
		},
		"at our server, which also leads: its own clock is finer": {
			[]Answer{at("a", ours+theirs(98500), leader(39))}, "alive 10.0.0.2:7 a 40s 1.5s 38.5s",
		},
		"answered after us": {
			[]Answer{at("a", ours+theirs(100001), "")}, "alive 10.0.0.2:7 a 40s 0s 40s",
		},
		"silent at our server": {
			[]Answer{at("a", ours+theirs(79999), "")}, "silent 10.0.0.2:7 a 40s 20.001s 19.999s",
		},
		"silent for longer than its session": {
			[]Answer{at("a", ours+theirs(1000), "")}, "silent 10.0.0.2:7 a 40s 1m39s 0s",
		},
		"at another server": {
			[]Answer{at("a", ours, follower), at("b", theirs(5), leader(38))}, "alive 10.0.0.2:7 b 40s about 2s 38s",
		},
		"silent at another server": {
			[]Answer{at("a", ours, follower), at("b", theirs(5), leader(9))}, "silent 10.0.0.2:7 b 40s about 31s 9s",
		},
		"at another server, and no dump": {
			[]Answer{at("a", ours, ""), at("b", theirs(5), "")}, "connected 10.0.0.2:7 b 40s -1ns -1ns",
		},
		"never answered since it has come back": {
			[]Answer{at("a", ours+theirs(0), "")}, "connected 10.0.0.2:7 a 40s -1ns -1ns",
		},
		"at two servers, of which the second knows when": {
			[]Answer{at("b", theirs(5), ""), at("a", ours+theirs(99000), "")}, "alive 10.0.0.2:7 a 40s 1s 39s",
		},
		"at two servers, of which the first knows when": {
			[]Answer{at("a", ours+theirs(99000), ""), at("b", theirs(5), "")}, "alive 10.0.0.2:7 a 40s 1s 39s",
		},
		"at no server": {
			[]Answer{at("a", ours, follower), at("b", none, follower)}, "away   40s -1ns -1ns",
		},
		"at no server, heard lately": {
			[]Answer{at("a", ours, follower), at("b", none, leader(38))}, "away   40s about 2s 38s",
		},
		"at no server that answers, heard lately": {
			[]Answer{at("a", ours, follower), at("b", "", leader(38))}, "away   40s about 2s 38s",
		},
		"at no server, and silent": {
			[]Answer{at("a", ours, follower), at("b", none, leader(5))}, "silent   40s about 35s 5s",
		},
		"no server allows cons": {
			[]Answer{at("a", "", follower), at("b", "", leader(38))}, "alive   40s about 2s 38s",
		},
		"a dump alone, without the timeout": {
			[]Answer{at("a", "", leader(38))}, "unknown   0s about -1ns 38s",
		},
		"a server does not answer": {
			[]Answer{at("a", ours, ""), at("b", "", "")}, "unknown   0s -1ns -1ns",
		},
		"nothing is allowed":   {[]Answer{at("a", "", "")}, "unknown   0s -1ns -1ns"},
		"the session is over":  {[]Answer{at("a", ours, gone)}, "ended   0s -1ns -1ns"},
		"the dump was cut off": {[]Answer{at("a", ours, gone[:60])}, "away   0s -1ns -1ns"},
		"a leader that does not know us has no clock for us": {
			[]Answer{at("a", none, "1 expire at Tue Nov 24 12:00:30 CET 2026:\n\t0x7\nephemeral nodes dump:\n")}, "away   0s -1ns -1ns",
		},
		"connected, and missing in a dump that was older": {
			[]Answer{at("a", ours+theirs(99000), gone)}, "alive 10.0.0.2:7 a 40s 1s 39s",
		},
	} {
		client := (&Report{Own: own, Answers: c.answers}).Client(2)
		about := ""
		if client.About {
			about = "about "
		}
		got := fmt.Sprintf("%s %s %s %v %s%v %v", client.State, client.Address, client.Server, client.Timeout, about, client.Heard, client.Left)
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestPatienceIsLongerForTimesByTicks(t *testing.T) {
	for _, c := range []struct {
		client Client
		want   string
	}{
		{Client{Address: "a", Timeout: 40 * time.Second, Heard: 20 * time.Second}, Alive},
		{Client{Address: "a", Timeout: 40 * time.Second, Heard: 20*time.Second + 1}, Silent},
		{Client{Address: "a", Timeout: 40 * time.Second, Heard: 30 * time.Second, About: true}, Alive},
		{Client{Address: "a", Timeout: 40 * time.Second, Heard: 30*time.Second + 1, About: true}, Silent},
	} {
		if got := c.client.state(true, true); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.client, got, c.want)
		}
	}
}
