package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// An entry of the list is a test that passed only when it was repeated.
type entry struct {
	name   testName
	date   string // as 2006-01-02
	output []string
}

// A testName is a test, or a test within it.
type testName struct{ pkg, test string }

func (n testName) String() string { return n.pkg + " " + n.test }

// text is how the entry stands in the list: a line with package, test and date, and its first output, indented.
func (e entry) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s %s\n", e.name, e.date)
	lines := strings.Split(strings.TrimSuffix(strings.Join(e.output, ""), "\n"), "\n") // a long line comes in pieces
	if len(lines) > mostLines {
		lines = append(lines[:mostLines:mostLines], fmt.Sprintf("… and %d lines more", len(lines)-mostLines))
	}
	for _, line := range lines {
		fmt.Fprintf(&b, "\t%s\n", line)
	}
	return b.String()
}

// readList returns the tests of a list and when they were entered. A list that does not exist is empty.
func readList(file string) (map[testName]string, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	listed := map[testName]string{}
	for i, line := range strings.Split(string(content), "\n") {
		if strings.TrimSpace(line) == "" || line[0] == '\t' || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s:%d: %q: want a package, a test and a date", file, i+1, line)
		}
		if _, err := time.Parse(time.DateOnly, fields[2]); err != nil {
			return nil, fmt.Errorf("%s:%d: %q: want a date such as 2006-01-02: %w", file, i+1, line, err)
		}
		listed[testName{fields[0], fields[1]}] = fields[2]
	}
	return listed, nil
}

// enter adds entries to a list, in one write: two runs may do it at once.
func enter(file string, entries []entry) error {
	if len(entries) == 0 {
		return nil
	}
	var all strings.Builder
	for _, e := range entries {
		all.WriteString(e.text())
	}
	return appendTo(file, all.String())
}

func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
