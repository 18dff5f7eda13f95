package web

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/txnlog"
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
