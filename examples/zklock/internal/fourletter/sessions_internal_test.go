package fourletter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// What follows was answered by servers 3.9.5; older ones answer the same, but for what the table says.
const (
	cons = ` /127.0.0.1:58164[0](queued=0,recved=1,sent=0)
 /127.0.0.1:42810[1](queued=0,recved=15,sent=15,sid=0x200004db7f40000,lop=PING,est=1795489552652,to=40000,lcxid=0x60000009,lzxid=0x100000010,lresp=5156034,llat=0,minlat=0,avglat=5,maxlat=18)
 /[0:0:0:0:0:0:0:1]:32892[1](queued=0,recved=22,sent=22,sid=0xff04db7f40000001,lop=PING,est=1795489554654,to=20000,lcxid=0x6000000b,lzxid=0x100000011,lresp=5158026,llat=0,minlat=0,avglat=2,maxlat=9)

`
	leadersDump = `SessionTracker dump:
Session Sets (4)/(3):
0 expire at Tue Nov 24 03:06:23 UTC 2026:
1 expire at Tue Nov 24 03:06:41 UTC 2026:
	0x200004db7f40001
2 expire at Tue Nov 24 03:07:01 UTC 2026:
	0x200004db7f40000
	0xff04db7f40000001
ephemeral nodes dump:
Sessions with Ephemerals (1):
0x200004db7f40001:
	/locks/nightly/_c_aca45b3c-8f3e-4abc-a7f4-92b1b6124477-lock-0000000001
Connections dump:
Connections Sets (1)/(1):
1 expire at Tue Nov 24 03:06:33 UTC 2026:
	ip: /127.0.0.1:49964 sessionId: 0x0
`
	followersDump = "SessionTracker dump:\nGlobal Sessions(2):\n0x200004db7f40000\t40000ms\n0xff04db7f40000001\t20000ms\nephemeral nodes dump:\n"
)

func TestConnectionsAreParsed(t *testing.T) {
	const want = "127.0.0.1:42810 0x200004db7f40000 40s 1h25m56.034s; [0:0:0:0:0:0:0:1]:32892 0xff04db7f40000001 20s 1h25m58.026s"
	var got []string
	for _, c := range Connections(cons) {
		got = append(got, fmt.Sprintf("%s %#x %v %v", c.Client, uint64(c.Session), c.Timeout, c.LastResponse))
	}
	if got := strings.Join(got, "; "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSpoiltConnectionsAreLeftOut(t *testing.T) {
	for text, want := range map[string]int{
		" /10.0.0.7:1[1](sid=0x1)":                    1,
		" null[1](sid=0x1,to=x,lresp=-5)":             1,
		" /10.0.0.7:1[1](sid=0x0)":                    0,
		" /10.0.0.7:1[1](sid=1)":                      0,
		" /10.0.0.7:1[1](sid=0x10000000000000000)":    0,
		" /10.0.0.7:1[1](sid=0x1":                     0,
		" /10.0.0.7:1[1](queued=0,recved=1,sent=0)":   0,
		"This line has no fields":                     0,
		"(sid=0x1,to=99999999999999999,lresp=1)":      1,
		" /10.0.0.7:1[1](sid=0x1)\n /a[1](sid=0x2)\n": 2,
	} {
		all := Connections(text)
		if len(all) != want {
			t.Errorf("%q: got %+v, want %d", text, all, want)
		}
		for _, c := range all {
			if c.Timeout != 0 || c.LastResponse > time.Millisecond {
				t.Errorf("%q: got %+v, want no time from what is none", text, c)
			}
		}
	}
}

func TestSessionsOfADumpAreParsed(t *testing.T) {
	for name, c := range map[string]struct{ dump, want string }{
		"the leader":   {leadersDump, "0x200004db7f40000 ends 03:07:01; 0x200004db7f40001 ends 03:06:41; 0xff04db7f40000001 ends 03:07:01; whole"},
		"a follower":   {followersDump, "0x200004db7f40000 40s; 0xff04db7f40000001 20s; whole"},
		"another zone": {strings.ReplaceAll(leadersDump, "UTC", "GMT-03:00"), "0x200004db7f40000 ends 03:07:01; 0x200004db7f40001 ends 03:06:41; 0xff04db7f40000001 ends 03:07:01; whole"},
		"local sessions": {
			"SessionTracker dump:\nLocal Session Sets (1)/(1):\n1 expire at Tue Nov 24 03:06:41 CET 2026:\n\t0x7\nGlobal Sessions(1):\n0x8\t5000ms\nephemeral nodes dump:\n",
			"0x7 ends 03:06:41; 0x8 5s; whole",
		},
		"a follower of 3.4":        {"SessionTracker dump:\norg.apache.zookeeper.server.quorum.LearnerSessionTracker@5e9f23b4\nephemeral nodes dump:\n", "whole"},
		"cut off":                  {followersDump[:70], "0x200004db7f40000 40s"},
		"cut off within a timeout": {followersDump[:61], ""},
		"a date of another form":   {"1 expire at tomorrow:\n\t0x7\nephemeral nodes dump:\n", "whole"},
		"a date that is none":      {"1 expire at Tue Nov 99 03:06:41 UTC 2026:\n\t0x7\nephemeral nodes dump:\n", "whole"},
		"a session without a date": {"\t0x7\nephemeral nodes dump:\n", "whole"},
		"a timeout that is none":   {"0x7\tsoon\nephemeral nodes dump:\n", "whole"},
		"nothing":                  {"", ""},
	} {
		s := ParseSessions(c.dump)
		var got []string
		for id, end := range s.Ends {
			got = append(got, fmt.Sprintf("%#x ends %s", uint64(id), end.Format(time.TimeOnly)))
		}
		for id, timeout := range s.Timeouts {
			got = append(got, fmt.Sprintf("%#x %v", uint64(id), timeout))
		}
		slices.Sort(got)
		if s.Whole {
			got = append(got, "whole")
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Whatever a server answers, what is taken from it stands in it, and no time is negative.
func FuzzAnswersOfServers(f *testing.F) {
	for _, seed := range []string{cons, leadersDump, followersDump, "(sid=0x1)", "1 expire at Tue Nov 24 03:06:41 UTC 2026:\n\t0x7", "0x1\t-5ms"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range Connections(text) {
			if c.Session == 0 || c.Timeout < 0 || c.LastResponse < 0 || !strings.Contains(text, c.Client) {
				t.Errorf("got %+v from %q", c, text)
			}
		}
		s := ParseSessions(text)
		for id, timeout := range s.Timeouts {
			if id == 0 || timeout < 0 {
				t.Errorf("got session %#x with %v from %q", id, timeout, text)
			}
		}
		for id := range maps.Keys(s.Ends) {
			if id == 0 || s.Ends[id].IsZero() {
				t.Errorf("got session %#x with the end %v from %q", id, s.Ends[id], text)
			}
		}
		if s.Whole != strings.Contains(text, endOfSessions) && s.Whole {
			t.Errorf("got the whole list from %q", text)
		}
	})
}
