package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A part of a page is a block of code with its fences, a heading, or lines of anything else.
type part struct {
	text          string
	code, heading bool
}

var (
	fence   = regexp.MustCompile("^ *(```+|~~~+)")
	heading = regexp.MustCompile(`^#{1,6} `)
)

// split returns the parts of a page, in order.
func split(text string) (parts []part) {
	open := ""
	for line := range strings.Lines(text) {
		next := part{text: line, code: open != "", heading: open == "" && heading.MatchString(line)}
		if mark := fence.FindStringSubmatch(line); mark != nil {
			next.code = true
			switch {
			case open == "":
				open = mark[1]
			case strings.HasPrefix(mark[1], open):
				open = ""
			}
		}
		if n := len(parts); n > 0 && !next.heading && !parts[n-1].heading && parts[n-1].code == next.code {
			parts[n-1].text += line
			continue
		}
		parts = append(parts, next)
	}
	return parts
}

// anchors counts the headings of a page by what GitHub makes of their words.
type anchors map[string]int

var (
	linked = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	other  = regexp.MustCompile(`[^\p{L}\p{M}\p{N}\p{Pc} -]`)
)

// next is the anchor of the page's next heading: headings with the same words differ by a number.
func (a anchors) next(title string) string {
	title = linked.ReplaceAllString(strings.TrimLeft(title, "#"), "$1")
	title = other.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
	title = strings.ReplaceAll(title, " ", "-")
	count := a[title]
	a[title]++
	if count > 0 {
		return fmt.Sprintf("%s-%d", title, count)
	}
	return title
}
