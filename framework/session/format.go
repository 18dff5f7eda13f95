package session

import "fmt"

// FormatText is for Format methods, of which package fmt calls no other for a type: it writes text by every verb, with
// its width, quoted by %q and in hexadecimal by %x. Without such a method a verb that is not for text, such as %d,
// prints the fields, which change meanwhile and may have credentials.
func FormatText(f fmt.State, verb rune, text string) {
	switch verb {
	case 'q', 'x', 'X':
	default:
		verb = 's'
	}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), text)
}
