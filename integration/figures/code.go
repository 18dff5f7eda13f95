package main

import (
	_ "embed"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// A code is a checkout, its top-level module and the packages in it.
type code struct {
	*tree
	dir      string
	path     string // the module's path
	packages map[string]*pkg
}

func open(dir string) (*code, error) {
	t, err := checkout(dir)
	if err != nil {
		return nil, err
	}
	return newCode(dir, t)
}

func newCode(dir string, t *tree) (*code, error) {
	text, err := fs.ReadFile(t.files, "go.mod")
	if err != nil {
		return nil, err
	}
	c := &code{tree: t, dir: dir, path: modfile.ModulePath(text)}
	if c.path == "" {
		return nil, errors.New("go.mod names no module")
	}
	c.packages, err = t.packages(c.path)
	return c, err
}

// library returns the directories of some of the library's packages, sorted.
func (c *code) library(chosen func(*pkg) bool) (dirs []string) {
	for dir, p := range c.packages {
		if below(dir, libraryDirs...) && len(p.code) > 0 && chosen(p) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// api returns the exported names of the library's public packages.
func (c *code) api() (string, error) {
	m, err := load(c.dir, c.path, c.library((*pkg).public))
	if err != nil {
		return "", err
	}
	return m.api(), nil
}

// reached returns, for each program, the files that it reaches from the roots.
func (c *code) reached(roots []string, programs ...program) (all [][]fileReached, err error) {
	m, err := load(c.dir, c.path, c.library(func(p *pkg) bool { return !p.helper }), programs...)
	if err != nil {
		return nil, err
	}
	functions, err := m.reached(roots)
	for _, reached := range functions {
		all = append(all, m.linesOf(reached, c.packages))
	}
	return all, err
}

// list returns the functions that a program reaches.
func (c *code) list(name string, roots []string) (string, error) {
	p, err := readProgram(name)
	if err != nil {
		return "", err
	}
	all, err := c.reached(roots, p)
	if err != nil {
		return "", err
	}
	return list(all[0]), nil
}

//go:embed mutex.txt
var mutex string

//go:embed observed.txt
var observed string

const mutexRoots = "recipes/locks.InterProcessMutex.Acquire,recipes/locks.Lease.Release"

// toRead is how many code lines of a file a mutex must reach before its reader reads the file.
const toRead = 30

// figures returns all figures.
func (c *code) figures() ([]figure, error) {
	figures, err := c.count()
	if err != nil {
		return nil, err
	}
	reached, err := c.reached(strings.Split(mutexRoots, ","), program{"mutex", mutex}, program{"observed", observed})
	if err != nil {
		return nil, err
	}
	for i, who := range []string{"a mutex", "an observed mutex"} {
		figures = append(figures,
			figure{"code lines that " + who + " reaches, without transport", codeLines(reached[i])},
			figure{"files that " + who + " reaches", len(reached[i])})
	}
	lines, files := 0, 0
	for _, file := range reached[0] {
		if below(file.name, "recipes") && file.code >= toRead {
			lines += file.lines
			files++
		}
	}
	return append(figures, figure{"lines to read of a mutex", lines}, figure{"files to read of a mutex", files}), nil
}

// codeLines adds up the reached code, without transport.
func codeLines(files []fileReached) (n int) {
	for _, file := range files {
		if !below(file.name, "framework/internal/transport") {
			n += file.code
		}
	}
	return n
}
