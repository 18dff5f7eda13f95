// Command prose checks how the project's comments and pages are written: without some words, and at most 120 columns
// wide.
//
//	go run ./integration/prose [directory]
//
// It prints a line for each finding. The status is 1 if there are any, and 2 if it could not read everything.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

func main() {
	flag.Usage = func() {
		_, _ = fmt.Fprint(flag.CommandLine.Output(), "usage: prose [directory]\n\nPrints the comments, messages and pages below "+
			"the directory that have a word of\nthe old style, or are wider than 120 columns.\n")
	}
	flag.Parse()
	if flag.NArg() > 1 {
		flag.Usage()
		os.Exit(2)
	}
	root := "."
	if flag.NArg() == 1 {
		root = flag.Arg(0)
	}
	found, err := check(os.DirFS(root), os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(2)
	case found > 0:
		os.Exit(1)
	}
}

// check prints what it finds below root, and returns how much that is.
func check(root fs.FS, out io.Writer) (found int, err error) {
	var failed []error
	err = fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".cache", ".git", "testdata"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		file, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		texts, err := textsOf(path, file)
		if err != nil {
			failed = append(failed, err)
		}
		lines := strings.Split(string(file), "\n")
		for _, t := range texts {
			for _, finding := range findings(t, lines[t.line-1]) {
				found++
				if _, err := fmt.Fprintf(out, "%s:%d: %s\n", path, t.line, finding); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return found, errors.Join(append(failed, err)...)
}
