package pages_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// selection is which tests a command runs, up to their subtests.
	selection = regexp.MustCompile(`-(?:run|fuzz|bench)[ =](?:'([^'/]+)|([\w^$.|]+))`)
	// tested is a package that a command names.
	tested = regexp.MustCompile(`(?:(\./)|github\.com/gocurator/curator/)([\w/]+)`)
	// moduleOf is the module in whose directory a command runs.
	moduleOf  = regexp.MustCompile(`(?:-C |cd )([\w./-]+)`)
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
	continued = regexp.MustCompile(`\\\n(?://)?\s*`)
)

// commented are the files of Go and of the shell whose comments show how to run tests.
func commented(t *testing.T) []string {
	t.Helper()
	found := []string{"../integration/run"}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".cache" {
			return filepath.SkipDir
		}
		if entry.Name() == "doc.go" {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A pattern that no test has passes, and runs nothing.
func TestTestsThatTextsRunExist(t *testing.T) {
	tests := map[string][]string{} // by directory; of all below ""
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".cache" {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			for _, f := range testFunc.FindAllSubmatch(contents(t, path), -1) {
				tests[filepath.Dir(path)] = append(tests[filepath.Dir(path)], string(f[1]))
				tests[""] = append(tests[""], string(f[1]))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range append(texts(t), commented(t)...) {
		for command := range strings.Lines(continued.ReplaceAllString(string(contents(t, file)), " ")) {
			for _, chosen := range selection.FindAllStringSubmatch(command, -1) {
				pattern := chosen[1] + chosen[2]
				if pattern == "^$" || pattern == "." {
					continue
				}
				found++
				if !anyMatches(t, file, pattern, command, tests) {
					t.Errorf("%s: %s: got no test of that name, want one: %s", file, chosen[0], strings.TrimSpace(command))
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("got %d commands that choose tests, want at least 15", found)
	}
}

// anyMatches reports whether a test has a pattern, in the packages that the command names, or in any if it names none.
func anyMatches(t *testing.T, file, pattern, command string, tests map[string][]string) bool {
	t.Helper()
	named, err := regexp.Compile(pattern)
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return true
	}
	var names []string
	in := ".."
	if module := moduleOf.FindStringSubmatch(command); module != nil {
		in = filepath.Join(in, module[1])
	}
	for _, dir := range tested.FindAllStringSubmatch(command, -1) {
		below := ".." // an import path
		if dir[1] != "" {
			below = in
		} else if strings.HasSuffix(dir[0], "integration/replay") {
			continue // the program that runs the tests
		}
		names = append(names, tests[filepath.Join(below, dir[2])]...)
	}
	if names == nil {
		names = tests[""]
	}
	return slices.ContainsFunc(names, named.MatchString)
}
