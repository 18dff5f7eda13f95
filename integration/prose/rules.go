package main

import (
	"fmt"
	"regexp"
	"strings"
)

// columns is the most that a line of text has.
const columns = 120

// A phrase is one that the project does without, and what takes its place.
type phrase struct {
	pattern *regexp.Regexp
	instead string
}

var phrases = []phrase{
	{words("who(m)?ever"), "name who does it: the contender, the client, the caller"},
	{words("some(body|one)"), "name who does it: another contender, another client"},
	{words("(him|her)self"), "itself, or name it"},
	{words("to(ld)|tel(ls)"), "say who says it, to whom: the client reports, the observer learns, the number shows"},
	{words("no(body)"), "name who does not: no client, no contender"},
	{words("an(ew)"), "again, or say what happens: the counter restarts, the node is created again"},
	{words("in va(in)"), "say how it ended: timed out, failed"},
}

// fragment matches the beginning of a comment behind code that continues the code: "err error // of the last look".
var fragment = regexp.MustCompile(`^(?://nolint:\S+ )?// (of|which)\b`)

func words(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(` + pattern + `)\b`) }

// findings returns what is wrong with a text, which stands on a line.
func findings(t text, line string) []string {
	var all []string
	for _, p := range phrases {
		if word := p.pattern.FindString(t.words); word != "" {
			all = append(all, fmt.Sprintf("%q: %s", word, p.instead))
		}
	}
	if word := fragment.FindStringSubmatch(t.words); word != nil && !strings.HasPrefix(strings.TrimSpace(line), "// ") {
		all = append(all, fmt.Sprintf("begins with %q: a comment behind code has a subject of its own", word[1]))
	}
	if wide := width(line); t.wraps && wide > columns {
		all = append(all, fmt.Sprintf("%d columns, at most %d", wide, columns))
	}
	return all
}

// width is the number of columns of a line. A tab goes on to the next column that is a multiple of four.
func width(line string) (columns int) {
	for _, r := range line {
		if columns++; r == '\t' {
			columns = (columns + 3) / 4 * 4
		}
	}
	return columns
}
