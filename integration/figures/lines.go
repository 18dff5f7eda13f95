package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A fileReached is a file with reached code.
type fileReached struct {
	name      string // relative to the checkout
	lines     int    // all lines of the file
	code      int    // code lines that are reached
	functions []functionReached
}

// A functionReached is a declared function with reached code. Closures belong to the function that contains them.
type functionReached struct {
	name string
	line int
	code int
}

// linesOf returns the files that have functions which are reached, sorted by name.
func (m *module) linesOf(reached map[*ssa.Function]bool, packages map[string]*pkg) (files []fileReached) {
	inside := make(map[string]map[int]bool) // lines of reached functions, by file
	for f := range reached {
		var syntax ast.Node
		switch x := f.Syntax().(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			syntax = x
		default: // a wrapper, or a function of another module
			continue
		}
		first, last := m.fset.Position(syntax.Pos()), m.fset.Position(syntax.End())
		if inside[first.Filename] == nil {
			inside[first.Filename] = make(map[int]bool)
		}
		for line := first.Line; line <= last.Line; line++ {
			inside[first.Filename][line] = true
		}
	}
	for _, p := range m.packages {
		dir := m.relative(p.PkgPath)
		for i, full := range p.CompiledGoFiles {
			name := path.Join(dir, filepath.Base(full))
			if text, ok := packages[dir].code[name]; ok && len(inside[full]) > 0 {
				file := fileReached{name: name, lines: text.lines}
				file.add(m, p.Syntax[i], text.code, inside[full])
				files = append(files, file)
			}
		}
	}
	slices.SortFunc(files, func(a, b fileReached) int { return strings.Compare(a.name, b.name) })
	return files
}

// add counts the code lines that are inside reached functions.
func (f *fileReached) add(m *module, syntax *ast.File, code []int, inside map[int]bool) {
	code = slices.DeleteFunc(slices.Clone(code), func(line int) bool { return !inside[line] })
	f.code = len(code)
	for _, declaration := range syntax.Decls {
		declared, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		first, last := m.fset.Position(declared.Pos()).Line, m.fset.Position(declared.End()).Line
		from, _ := slices.BinarySearch(code, first)
		to, _ := slices.BinarySearch(code, last+1)
		if to > from {
			f.functions = append(f.functions, functionReached{declared.Name.Name, first, to - from})
		}
	}
}

// list writes the reached functions package by package, the longest first.
func list(files []fileReached) string {
	type entry struct {
		dir, text string
		code      int
	}
	var entries []entry
	sums := make(map[string]int)
	for _, file := range files {
		dir := path.Dir(file.name)
		sums[dir] += file.code
		for _, f := range file.functions {
			entries = append(entries, entry{dir, fmt.Sprintf("%s:%d %s", file.name, f.line, f.name), f.code})
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Or(strings.Compare(a.dir, b.dir), b.code-a.code) })
	var b strings.Builder
	before := ""
	for _, e := range entries {
		if e.dir != before {
			fmt.Fprintf(&b, "%s: %d\n", e.dir, sums[e.dir])
			before = e.dir
		}
		fmt.Fprintf(&b, "%6d %s\n", e.code, e.text)
	}
	return b.String()
}
