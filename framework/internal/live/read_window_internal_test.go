package live

import (
	"testing"
	"time"
)

func TestReadWindowGrowsWithQuickAnswersAndIsHalvedOnceByLateOnes(t *testing.T) {
	const timeout = 16 * time.Second
	start := time.Now()
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	for name, c := range map[string]struct {
		window    readWindow
		sent, now float64
		want      int
		halved    bool
	}{
		"quick":                       {window: readWindow{size: 4, underWay: 4}, now: 0.99, want: 5},
		"quick, at most":              {window: readWindow{size: mostReads, underWay: mostReads}, want: mostReads},
		"quick, half of it used":      {window: readWindow{size: 4, underWay: 2}, want: 5},
		"quick, less used":            {window: readWindow{size: 4, underWay: 1}, want: 4},
		"quick, more under way":       {window: readWindow{size: 4, underWay: 5}, want: 4},
		"late":                        {window: readWindow{size: 8, underWay: 8}, now: 1, want: 4, halved: true},
		"late, less used":             {window: readWindow{size: 8, underWay: 1}, now: 1, want: 4, halved: true},
		"late, at least one":          {window: readWindow{size: 1, underWay: 1}, now: 9, want: 1, halved: true},
		"late, sent before a halving": {window: readWindow{size: 4, underWay: 7, halved: at(2)}, sent: 1, now: 3, want: 4},
		"late, sent after a halving":  {window: readWindow{size: 4, underWay: 4, halved: at(2)}, sent: 2, now: 3, want: 2, halved: true},
	} {
		before := c.window
		c.window.answered(at(c.sent), at(c.now), timeout)
		if c.window.size != c.want || c.window.underWay != before.underWay-1 {
			t.Errorf("%s: got a window of %d with %d under way, want %d with %d", name, c.window.size, c.window.underWay, c.want, before.underWay-1)
		}
		if halved := c.window.halved.Equal(at(c.now)); halved != c.halved {
			t.Errorf("%s: got halved at %v, want it changed: %v", name, c.window.halved, c.halved)
		}
	}
}

func TestReadWindowBeginsWithOneAfterAFailureAndIsOpenWhenTheRestIsAnswered(t *testing.T) {
	w := readWindow{size: 3, underWay: 3}
	w.failed()
	for underWay := 2; underWay > 0; underWay-- {
		if w.open() || w.size != 1 || w.underWay != underWay {
			t.Errorf("got %+v, open: %v, want a window of one, with %d under way, closed", w, w.open(), underWay)
		}
		w.failed()
	}
	if !w.open() {
		t.Errorf("got %+v closed, want it open when nothing is under way", w)
	}
}
