package commands

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// frame is what the terminal shows: at most so many rows of 80 columns.
func (w *watcher) frame(rows int) []string {
	lock, width := w.lock, stateWidth(w.lock)
	lines := []string{
		fmt.Sprintf("%s  %s", survey.Cut(survey.Printable(lock.Path), 55), lock.Kind),
		fmt.Sprintf("%d hold, %d wait   %.1f acquisitions/s   %d came, %d left   %s",
			len(lock.Holders()), lock.Waiting(), w.rate, w.came, w.losses, w.now.Format(time.TimeOnly)),
		w.troubleLine(80),
		fmt.Sprintf("%-*s  %8s  %-12s  %s", width, "STATE", "FOR", "TOKEN", "WHO"),
	}
	history := min(len(w.recent), max(rows/3, 3))
	room := max(rows-len(lines)-history-2, 1)
	for i, c := range lock.Contenders {
		if i == room-1 && len(lock.Contenders) > room {
			lines = append(lines, fmt.Sprintf("… and %d more", len(lock.Contenders)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%-*s  %8s  %-12d  %s", width, c.State, short(w.now.Sub(c.Since)), c.Token, survey.Cut(c.Who, 80-26-width)))
	}
	lines = append(lines, "")
	for _, c := range w.recent[len(w.recent)-history:] {
		lines = append(lines, changeLine(c, 59))
	}
	return lines[:min(len(lines), rows)]
}

// troubleLine says how old the frame is, in an outage. It is red when that is older than the session timeout.
func (w *watcher) troubleLine(columns int) string {
	now := w.outage()
	if now == none {
		return ""
	}
	text := "as of " + short(w.age()) + " ago"
	if w.trouble != "" {
		text += ": " + w.trouble
	}
	if now == outdated {
		return "\x1b[41;97m" + survey.Cut("who holds is not known; "+text, columns) + "\x1b[m"
	}
	return survey.Cut(text, columns)
}

// changeLine is a change in a line. Its text has at most so many columns; 0 is no limit.
func changeLine(c survey.Change, most int) string {
	return fmt.Sprintf("%s  %-7s  %s", c.At.Format("15:04:05.0"), c.What, survey.Cut(c.Who+c.Why, most))
}

func printLines(out io.Writer, news []survey.Change) error {
	for _, c := range news {
		if _, err := fmt.Fprintln(out, changeLine(c, 0)); err != nil {
			return err
		}
	}
	return nil
}

// enterScreen takes a screen of its own, and returns what gives the old one back.
func enterScreen(out io.Writer) (leave func()) {
	_, _ = io.WriteString(out, "\x1b[?1049h\x1b[?25l\x1b[2J")
	return func() { _, _ = io.WriteString(out, "\x1b[?25h\x1b[?1049l") }
}

// draw writes a frame over the last one, in one write, so that nothing flickers.
func draw(out io.Writer, lines []string) error {
	var text strings.Builder
	text.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			text.WriteString("\r\n")
		}
		text.WriteString(line + "\x1b[K")
	}
	text.WriteString("\x1b[J")
	_, err := io.WriteString(out, text.String())
	return err
}

// terminalRows is the height of the terminal that out is, if it is one.
func terminalRows(out io.Writer) (rows int, ok bool) {
	file, isFile := out.(*os.File)
	if !isFile || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return 0, false
	}
	return windowRows(file)
}
