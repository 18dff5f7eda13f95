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
	}{
		"quick":                       {readWindow{size: 4}, 0, 0.99, 5},
		"quick, at most":              {readWindow{size: mostReads}, 0, 0, mostReads},
		"late":                        {readWindow{size: 8}, 0, 1, 4},
		"late, at least one":          {readWindow{size: 1}, 0, 9, 1},
		"late, sent before a halving": {readWindow{size: 4, halved: at(2)}, 1, 3, 4},
		"late, sent after a halving":  {readWindow{size: 4, halved: at(2)}, 2, 3, 2},
	} {
		c.window.answered(at(c.sent), at(c.now), timeout)
		if c.window.size != c.want {
			t.Errorf("%s: got a window of %d, want %d", name, c.window.size, c.want)
		}
		if halved := c.window.halved.Equal(at(c.now)); halved != (c.want < 4 || name == "late" || name == "late, at least one") {
			t.Errorf("%s: got halved at %v", name, c.window.halved)
		}
	}
}
