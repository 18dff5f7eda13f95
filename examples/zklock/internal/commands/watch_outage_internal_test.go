package commands

import (
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// A watcher in a frame: what it knows was read so long ago, a look has failed or not, and what was said before.
func TestOutageIsToldOnceAndAgainAfterTheSessionTimeout(t *testing.T) {
	read := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		age    time.Duration
		failed bool
		shown  outage
		want   string // what and why
		left   outage
	}{
		"fresh":                             {time.Second, false, none, "", none},
		"a look that takes long":            {3 * time.Second, false, none, "", none},
		"three looks that did not come":     {3001 * time.Millisecond, false, none, "silence no server of zk1:2181 answers; what is known is 3.0s old", unheard},
		"a look that failed":                {time.Second, true, none, "silence no server of zk1:2181 answers; what is known is 1.0s old", unheard},
		"a silence that goes on":            {9 * time.Second, true, unheard, "", unheard},
		"a silence of the session timeout":  {10 * time.Second, true, unheard, "", unheard},
		"a silence that has become too old": {10001 * time.Millisecond, true, unheard, "silence what is known is 10.0s old, older than the session timeout: who holds is not known", outdated},
		"one that was shown":                {time.Minute, true, outdated, "", outdated},
		"an answer":                         {0, false, outdated, "answer the servers answer again", none},
		"an answer after a short silence":   {0, false, unheard, "answer the servers answer again", none},
	} {
		w := &watcher{servers: "zk1:2181", every: time.Second, timeout: 10 * time.Second, at: read, now: read.Add(c.age), shown: c.shown}
		if c.failed {
			w.take(sight{err: errors.New("no server")})
		}
		got := ""
		if news := w.outages(); len(news) > 0 {
			got = news[0].What + " " + news[0].Why
		}
		if got != c.want || w.shown != c.left {
			t.Errorf("%s: got %q and %d, want %q and %d", name, got, w.shown, c.want, c.left)
		}
	}
}

func TestFrameIsRedWhenItIsOlderThanTheSessionTimeout(t *testing.T) {
	read := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	lock := &survey.Lock{Path: "/locks/a", Kind: "mutex"}
	for name, c := range map[string]struct {
		age  time.Duration
		want string
	}{
		"fresh":       {time.Second, ""},
		"old":         {5 * time.Second, "as of 5.0s ago: no server"},
		"far too old": {11 * time.Second, "\x1b[41;97mwho holds is not known; as of 11.0s ago: no server\x1b[m"},
	} {
		w := &watcher{every: time.Second, timeout: 10 * time.Second, lock: lock, at: read, now: read.Add(c.age)}
		if c.want != "" {
			w.trouble = "no server"
		}
		if got := w.frame(20)[2]; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
