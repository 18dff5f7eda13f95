package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/examples/zklock/txnlog/logtest"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/locks"
)

// reader is a historian whose readings take some time each, and are counted.
func reader(takes time.Duration) (h *historian, readings func() int) {
	count := 0
	h = newHistorian(Options{}, func(who string) string { return who })
	h.look = func(lock string) Past {
		time.Sleep(takes)
		count++
		return Past{Path: lock, More: count}
	}
	return h, func() int { return count }
}

func TestAPastIsShownForTenSecondsOrTwentyTimesItsReading(t *testing.T) {
	for takes, rest := range map[time.Duration]time.Duration{0: 10 * time.Second, time.Second: 20 * time.Second} {
		zktest.Bubble(t, func(t *testing.T) {
			h, _ := reader(takes)
			first := h.ask(t.Context(), "/a")
			time.Sleep(rest - 1)
			again := h.ask(t.Context(), "/a")
			time.Sleep(time.Nanosecond)
			if next := h.ask(t.Context(), "/a"); first.More != 1 || again.More != 1 || again.Reading != "" || next.More != 2 || next.Reading != "" {
				t.Errorf("a reading of %v: got %+v, %+v, then %+v, want two readings, %v apart", takes, first, again, next, rest)
			}
		})
	}
}

// A disk that does not answer holds up the goroutine that reads it.
func TestADirectoryThatHangsHoldsUpNoPage(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		answers := make(chan Past)
		h := newHistorian(Options{}, func(who string) string { return who })
		h.look = func(string) Past { return <-answers }
		for _, c := range []struct{ lock, want string }{
			{"/a", "the logs are being read, for 2s by now"},
			{"/b", "the logs are being read for another lock"},
			{"/a", "the logs are being read, for 6s by now"},
		} {
			begun := time.Now()
			if got := h.ask(t.Context(), c.lock); got.Reading != c.want || time.Since(begun) != pastPatience {
				t.Errorf("%s: got %+v after %v, want %q after %v", c.lock, got, time.Since(begun), c.want, pastPatience)
			}
		}
		answers <- Past{Path: "/a", More: 7}
		if got := h.ask(t.Context(), "/a"); got.Reading != "" || got.More != 7 {
			t.Errorf("got %+v once the disk answers, want what it has", got)
		}
	})
}

// The queue of a lock is read from the servers, and shown, while a directory hangs.
func TestADirectoryThatHangsHoldsUpNoQueue(t *testing.T) {
	server := zktest.New(t)
	client, err := framework.NewClient(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	handler, err := New(Options{Client: client, Logs: []string{t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer handler.Close()
	hangs, answers := make(chan struct{}), make(chan Past)
	handler.historian.look = func(string) Past { close(hangs); return <-answers }
	get := func(what string) string {
		recorded := httptest.NewRecorder()
		handler.ServeHTTP(recorded, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/"+what+"?path=/locks/a", http.NoBody))
		return recorded.Body.String()
	}
	past := make(chan string)
	go func() { past <- get("history") }()
	await.Receive(t, time.Minute, "a reading of the directory", hangs)
	for _, who := range []string{"billing", "reports"} {
		mutex := locks.NewInterProcessMutex(client, "/locks/a", locks.WithLockData([]byte(who)))
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := get("lock"); !strings.Contains(got, who) {
			t.Errorf("got the queue %s, want %s in it", got, who)
		}
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if got := await.Receive(t, time.Minute, "an answer beside the reading", past); !strings.Contains(got, "the logs are being read, for 2s by now") {
		t.Errorf("got the past %s, want that it is being read", got)
	}
	answers <- Past{}
}

// Many pages of different locks read no more often than one does.
func TestReadingsOfAllLocksPauseTogether(t *testing.T) {
	for takes, most := range map[time.Duration]int{0: 60, 500 * time.Millisecond: 6} {
		zktest.Bubble(t, func(t *testing.T) {
			h, readings := reader(takes)
			begun, paused := time.Now(), 0
			for n := 0; time.Since(begun) < time.Minute; n++ {
				if strings.Contains(h.ask(t.Context(), "/lock"+strconv.Itoa(n)).Reading, "again in") {
					paused++
				}
				time.Sleep(10 * time.Millisecond)
			}
			if got := readings(); got < most-1 || got > most || paused == 0 {
				t.Errorf("a reading of %v: got %d within a minute, %d answers that say when, want %d", takes, got, paused, most)
			}
		})
	}
}

func TestNotesOfWhatIsMissingAreShownFirstAndTheRestIsCounted(t *testing.T) {
	all := []txnlog.Note{
		{Kind: txnlog.Torn, File: "a"}, {Kind: txnlog.Deposed, File: "b"}, {Kind: txnlog.Unconfirmed, File: "c"}, {Kind: txnlog.NoLog, File: "d"},
	}
	got := worstNotes(all)
	if len(got) != 4 || !strings.HasPrefix(got[0], "d: ") || !strings.HasPrefix(got[1], "a: ") || !strings.HasPrefix(got[3], "and 1 more") {
		t.Errorf("got %q, want that of d, two of the others, and one more", got)
	}
	if got := worstNotes(all[:3]); len(got) != 3 {
		t.Errorf("got %q, want three", got)
	}
}

// written is a directory with a log of these transactions.
func written(t *testing.T, all ...zktest.Transaction) (dir string) {
	t.Helper()
	dir = t.TempDir()
	logtest.Write(t, dir, all...)
	return dir
}

// made is the creation of a node, and gone its deletion by its session: a second later for each zxid.
func made(zxid, session int64, path string) zktest.Transaction {
	return zktest.Transaction{Zxid: zxid, Session: session, Request: 1, At: time.Unix(1_800_000_000+zxid, 0), Changes: []zktest.Change{
		{Kind: zktest.Created, Path: path, Owner: session, Data: []byte("client")},
	}}
}

func gone(zxid, session int64, path string) zktest.Transaction {
	t := made(zxid, session, path)
	t.Changes = []zktest.Change{{Kind: zktest.Deleted, Path: path}}
	return t
}

func TestLocksBelowALockDoNotCrowdItOut(t *testing.T) {
	all := []zktest.Transaction{made(1, 7, "/l/lock-0000000000"), gone(2, 7, "/l/lock-0000000000")}
	for i := range int64(2 * pastShown) {
		node := fmt.Sprintf("/l/below/lock-%010d", i)
		all = append(all, made(3+2*i, 7, node), gone(4+2*i, 7, node))
	}
	h := newHistorian(Options{Logs: []string{written(t, all...)}}, func(who string) string { return who })
	if got := h.pastOf("/l"); len(got.Contenders) != 1 || got.More != 0 || got.Failed != "" {
		t.Errorf("got %d contenders, %d more, %q, want one", len(got.Contenders), got.More, got.Failed)
	}
}

func TestPastSaysWhatIsNotKnown(t *testing.T) {
	const first, second = "/l/lock-0000000000", "/l/lock-0000000001"
	const kazoo = "/l/0123456789abcdef0123456789abcdef__lock__0000000002"
	inGap := written(t, made(1, 7, first), made(2, 8, second))
	// The first one went in between, and let in the second.
	logtest.Write(t, inGap, made(9, 9, first), gone(10, 8, second))
	for name, test := range map[string]struct {
		dir  string
		want []Passed
		more int // reasons why others may have held
	}{
		"in a gap":      {inGap, []Passed{{How: "unknown", Held: true, Gone: true}, {How: "released", Held: true, Gone: true}, {Held: true}}, 0},
		"before":        {written(t, gone(5, 7, first)), []Passed{{How: "unknown", Held: true, Earlier: true, Gone: true}}, 0},
		"mixed":         {written(t, made(1, 7, first), made(2, 8, kazoo)), []Passed{{Held: true}, {}}, 1},
		"nothing of it": {written(t, made(1, 7, "/other")), nil, 0},
	} {
		past := newHistorian(Options{Logs: []string{test.dir}}, func(who string) string { return who }).pastOf("/l")
		var got []Passed
		for _, c := range past.Contenders {
			got = append(got, Passed{How: c.How, Held: c.Held, Earlier: c.Earlier, Gone: c.Gone})
			if c.Gone && c.How == "unknown" && !c.Ended.IsZero() && !c.Earlier {
				t.Errorf("%s: got %+v, want no time of its end", name, c)
			}
		}
		if !slices.Equal(got, test.want) || len(past.MayOverlap) != test.more {
			t.Errorf("%s: got %+v and %q, want %+v and %d reasons", name, got, past.MayOverlap, test.want, test.more)
		}
	}
}
