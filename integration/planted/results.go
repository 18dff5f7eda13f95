package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A result is what became of a bug.
type result struct {
	bug     string
	verdict string // found, survived, hung, or equivalent
	pkg     string // relative to the module: where it was found
	test    string
	seconds int
}

func (r result) String() string {
	if r.test == "" {
		return fmt.Sprintf("%-10s %s", r.verdict, r.bug)
	}
	return fmt.Sprintf("%-10s %-56s %-28s %-72s %4d s", r.verdict, r.bug, r.pkg, r.test, r.seconds)
}

// readResults reads the results in every file of a directory.
func readResults(dir string) (map[string]result, error) {
	results := map[string]result{}
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			r, err := parseResult(line)
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", file, line, err)
			}
			results[r.bug] = r
		}
	}
	return results, nil
}

func parseResult(line string) (r result, err error) {
	words := strings.Fields(line)
	switch len(words) {
	case 2:
	case 6:
		r.pkg, r.test = words[2], words[3]
		if r.seconds, err = strconv.Atoi(words[4]); err != nil {
			return r, err
		}
	default:
		return r, fmt.Errorf("got %d words, want 2 or 6", len(words))
	}
	r.verdict, r.bug = words[0], words[1]
	return r, nil
}

// writeResults writes the file of an area, in the order of its bugs. A bug that is gone has no result any more.
func writeResults(dir, area string, bugs []bug, results map[string]result) error {
	var text strings.Builder
	for _, b := range bugs {
		if r, ok := results[b.name]; ok && b.area() == area {
			fmt.Fprintln(&text, r)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, area+".txt"), []byte(text.String()), 0o644)
}
