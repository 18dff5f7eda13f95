package doctor

import (
	"strings"
	"testing"
	"time"
)

func TestLimitsThatMayShortenSessionsAreWorthALook(t *testing.T) {
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	at := func(address string, least, most int) limitsOf {
		return limitsOf{address, settings{least: seconds(least), most: seconds(most)}, true}
	}
	a, untold := at("a", 4, 40), limitsOf{address: "b"}
	for name, c := range map[string]struct {
		all   []limitsOf
		asked int
		want  string // about whom
	}{
		"the defaults":              {[]limitsOf{a, at("b", 4, 40)}, 30, ""},
		"one second below the most": {[]limitsOf{a}, 39, ""},
		"the most":                  {[]limitsOf{a}, 40, "a"},
		"more than the most":        {[]limitsOf{a, untold}, 60, "a"},
		"another most":              {[]limitsOf{a, at("b", 4, 39)}, 30, "servers"},
		"another least":             {[]limitsOf{a, at("b", 3, 40)}, 30, "servers"},
		"another most, and reached": {[]limitsOf{a, at("b", 4, 30)}, 30, "servers b"},
		"one is not told":           {[]limitsOf{untold, a}, 30, ""},
		"none is told":              {[]limitsOf{untold}, 60, ""},
	} {
		var about []string
		for _, f := range limitFindings(c.all, seconds(c.asked)) {
			about = append(about, f.About)
			if f.Level != Look || f.Advice == "" {
				t.Errorf("%s: got %+v, want a look, and advice", name, f)
			}
		}
		if got := strings.Join(about, " "); got != c.want {
			t.Errorf("%s: got findings about %q, want %q", name, got, c.want)
		}
	}
}
