package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A bug is a change of files that breaks a promise.
type bug struct {
	name       string // the file in the directory bugs, and the name there: queue/reader-overtakes
	about      string
	breaks     string
	equivalent string // why no test can notice it; empty for a bug
	flags      []string
	changes    []change
}

// A change replaces a piece of a file.
type change struct {
	file     string // relative to the module
	old, new string
}

// area is the file in the directory bugs.
func (b bug) area() string {
	area, _, _ := strings.Cut(b.name, "/")
	return area
}

// readBugs reads every file of a directory.
func readBugs(dir string) ([]bug, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var all []bug
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		bugs, err := parseBugs(strings.TrimSuffix(filepath.Base(file), ".txt"), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, bugs...)
	}
	return all, nil
}

// parseBugs reads the text of one file.
func parseBugs(area, text string) (bugs []bug, err error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		if bugs, err = addLine(area, bugs, lines.Text()); err != nil {
			return nil, fmt.Errorf("%s.txt:%d: %w", area, number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	for i, b := range bugs {
		if b.breaks == "" || len(b.changes) == 0 {
			return nil, fmt.Errorf("%s: a bug has a line breaks: and a change", b.name)
		}
		if slices.ContainsFunc(bugs[:i], func(other bug) bool { return other.name == b.name }) {
			return nil, fmt.Errorf("%s: there are two of that name", b.name)
		}
	}
	return bugs, nil
}

func addLine(area string, bugs []bug, line string) ([]bug, error) {
	if title, ok := strings.CutPrefix(line, "# "); ok {
		name, about, ok := strings.Cut(title, ": ")
		if !ok || strings.Contains(name, " ") {
			return nil, errors.New("want # name: what is wrong")
		}
		return append(bugs, bug{name: area + "/" + name, about: about}), nil
	}
	if len(bugs) == 0 {
		return bugs, nil // what stands before the first bug is a comment
	}
	b := &bugs[len(bugs)-1]
	if len(b.changes) > 0 && line != "" && (line[0] == ' ' || line[0] == '+' || line[0] == '-') {
		b.changes[len(b.changes)-1].add(line[0], line[1:]+"\n")
		return bugs, nil
	}
	word, rest, _ := strings.Cut(line, ": ")
	switch word {
	case "":
	case "breaks":
		b.breaks = rest
	case "equivalent":
		b.equivalent = rest
	case "flags":
		b.flags = strings.Fields(rest)
	case "file":
		b.changes = append(b.changes, change{file: rest})
	default:
		return nil, fmt.Errorf("want breaks:, flags:, equivalent:, file: or a line of a change, got %q", line)
	}
	return bugs, nil
}

func (c *change) add(kind byte, line string) {
	if kind != '+' {
		c.old += line
	}
	if kind != '-' {
		c.new += line
	}
}

// files returns the changed files of the module at root, with their new text.
func (b bug) files(root string) (map[string]string, error) {
	texts := map[string]string{}
	for _, c := range b.changes {
		path := filepath.Join(root, filepath.FromSlash(c.file))
		text, ok := texts[path]
		if !ok {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.name, err)
			}
			text = string(data)
		}
		if n := strings.Count("\n"+text, "\n"+c.old); n != 1 || c.old == c.new {
			return nil, fmt.Errorf("%s: %s has the text in %d places, want one and a change of it:\n%s", b.name, c.file, n, c.old)
		}
		texts[path] = strings.TrimPrefix(strings.Replace("\n"+text, "\n"+c.old, "\n"+c.new, 1), "\n")
	}
	return texts, nil
}
