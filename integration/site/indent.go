package main

import (
	"regexp"
	"strings"
)

// bullet matches the beginning of a list's item.
var bullet = regexp.MustCompile(`^ *(?:[*+-]|\d{1,9}[.)]) +`)

// indent returns a page whose lists MkDocs takes as GitHub does: what belongs to an item is four columns further in,
// while on GitHub it begins where the item's first word does. Code in an item has an empty line before it, and so has
// an item after one with empty lines.
func indent(text string) string {
	var out strings.Builder
	var items []int // where the words of each item that is open begin
	open := ""      // the fence of the code at hand
	blank := true   // the line before is empty
	apart := false  // an item that is open has empty lines
	for line := range strings.Lines(text) {
		words := strings.TrimLeft(line, " ")
		column, begins := len(line)-len(words), open == "" && bullet.MatchString(line)
		mark := fence.FindStringSubmatch(line)
		if open == "" && words != "\n" && (blank || begins || mark != nil || heading.MatchString(line)) {
			for len(items) > 0 && column < items[len(items)-1] {
				items = items[:len(items)-1]
			}
		}
		if n := len(items); n > 0 && column >= items[n-1] {
			column += 4*n - items[n-1]
			if mark != nil && open == "" && !blank {
				out.WriteString("\n")
			}
		}
		if begins && apart && !blank {
			out.WriteString("\n")
		}
		switch {
		case mark != nil && open == "":
			open = mark[1]
		case mark != nil && strings.HasPrefix(mark[1], open):
			open = ""
		case begins:
			items = append(items, len(bullet.FindString(line)))
		}
		if words == "\n" {
			column = 0
		}
		out.WriteString(strings.Repeat(" ", column) + words)
		blank = words == "\n"
		apart = len(items) > 0 && (apart || blank)
	}
	return out.String()
}
