//go:build linux

package interop_test

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// turns is how often leadership has changed from each language to the other, in the election where that is rarer.
func (e *electionRun) turns() int {
	fewest := -1
	for _, path := range []string{latches, selectors} {
		toJava, toGo := e.changes(path)
		if n := min(toJava, toGo); fewest < 0 || n < fewest {
			fewest = n
		}
	}
	return fewest
}

func (e *electionRun) changes(path string) (toJava, toGo int) {
	before := ""
	for _, one := range e.history.holds(path) {
		switch kind := kindOf(one.who); {
		case before == ours && kind == java:
			toJava++
		case before == java && kind == ours:
			toGo++
		}
		before = kindOf(one.who)
	}
	return toJava, toGo
}

func kindOf(who string) string { return who[:strings.LastIndex(who, "-")] }

// A row of the table is about the leaders of one election in one language.
type row struct {
	terms, lost int
	looks       []time.Duration // from the thaw to the first look of each that was frozen
	outlived    time.Duration   // how late, at most, a leader that was not frozen noticed the end of its node
}

func (e *electionRun) row(path, kind string) (r row) {
	for _, one := range e.history.holds(path) {
		e.mu.Lock()
		recipe := e.posts[one.who].recipe
		e.mu.Unlock()
		if kindOf(one.who) != kind || recipe == "mutex" {
			continue
		}
		r.terms++
		if one.lost {
			r.lost++
		}
		switch {
		case one.thawed != 0:
			r.looks = append(r.looks, time.Duration(one.looked-one.thawed).Round(10*time.Microsecond))
		case one.lost && kind == java:
			r.outlived = max(r.outlived, time.Duration(one.looked-one.removed.from).Round(time.Millisecond))
		}
	}
	slices.Sort(r.looks)
	return r
}

// table has a row for each election and language. Overlaps are those of the whole queue.
func (e *electionRun) table() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "election\tlanguage\tterms\tafter the other language\tlost\toverlaps\toutlived its node by\t"+
		"frozen while it led\tthaw to first look: median\tmost\t")
	for _, path := range []string{latches, selectors} {
		toJava, toGo := e.changes(path)
		found := len(overlaps(e.history.holds(path)))
		for _, kind := range []string{ours, java} {
			r, after := e.row(path, kind), map[string]int{ours: toGo, java: toJava}[kind]
			median, most := "–", "–"
			if n := len(r.looks); n > 0 {
				median, most = r.looks[n/2].String(), r.looks[n-1].String()
			}
			fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%v\t%d\t%s\t%s\t\n",
				last(path), kind, r.terms, after, r.lost, found, r.outlived, len(r.looks), median, most)
		}
	}
	_ = table.Flush() // a Builder takes everything
	return text.String()
}
