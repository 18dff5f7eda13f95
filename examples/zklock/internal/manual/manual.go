// Package manual prints what a command of zklock does, in 80 columns, from the same text and flags as its man page.
package manual

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gocurator/curator/examples/zklock/internal/servers"
)

const width = 80

// Print prints a command's text, its flags, and the text on settings for the connection.
func Print(w io.Writer, text string, set *flag.FlagSet) {
	PrintAlone(w, text, set)
	_, _ = fmt.Fprintf(w, "\n%s\n", servers.Help)
}

// PrintAlone prints the text and the flags of a command that talks to no server.
func PrintAlone(w io.Writer, text string, set *flag.FlagSet) {
	_, _ = fmt.Fprintf(w, "%s\nFlags:\n\n%s", text, flags(set))
}

// flags lists them in 80 columns.
func flags(set *flag.FlagSet) string {
	var out strings.Builder
	set.VisitAll(func(f *flag.Flag) {
		name, usage := flag.UnquoteUsage(f)
		out.WriteString("  -" + f.Name)
		if name != "" {
			out.WriteString(" " + name)
		}
		usage += Default(f, usage)
		for _, line := range Wrap(usage, width-8) {
			out.WriteString("\n        " + line)
		}
		out.WriteString("\n")
	})
	return out.String()
}

// Default returns a note of a flag's default, unless the flag's text names it, or there is none.
func Default(f *flag.Flag, usage string) string {
	if strings.Contains(usage, "default") || slices.Contains([]string{"", "false", "0", "0s", "-1"}, f.DefValue) {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// Wrap breaks a text into lines of at most so many characters, at spaces.
func Wrap(text string, most int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > most {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
