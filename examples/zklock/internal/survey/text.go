package survey

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text shows a node's data: anybody may have written it, and it must not move a terminal's cursor or turn its text
// around.
func Text(data []byte) string {
	switch {
	case len(data) == 0:
		return "(no data)"
	case string(data) == "__REVOKE__":
		return "(was asked to leave)"
	case !utf8.Valid(data):
		return fmt.Sprintf("(%d bytes)", len(data))
	}
	return Printable(string(data))
}

// Printable replaces what could move the cursor, change colours or turn the direction of writing.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || r != ' ' && !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// Cut shortens a text to so many columns, a character being one.
func Cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most && most > 0 {
		return string(runes[:most-1]) + "…"
	}
	return text
}
