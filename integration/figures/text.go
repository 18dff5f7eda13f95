package main

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"os"
	"strings"
)

// A text is a file of Go, seen as lines.
type text struct {
	name  string
	lines int
	code  map[int]bool // the numbers of the lines that have code
	words int          // in comments
}

// read finds out which lines of a file have code. A literal of several lines is code in all of them.
func read(name string, syntax *ast.File) (*text, error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t := &text{name: name, lines: strings.Count(string(source), "\n"), code: make(map[int]bool), words: words(syntax)}
	file := token.NewFileSet().AddFile(name, -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	for {
		position, tok, literal := s.Scan()
		if tok == token.EOF {
			return t, nil
		}
		if tok == token.SEMICOLON && literal == "\n" { // the end of a line
			continue
		}
		first := file.Line(position)
		for line := first; line <= first+strings.Count(literal, "\n"); line++ {
			t.code[line] = true
		}
	}
}

// words counts the words of the comments.
func words(file *ast.File) int {
	n := 0
	for _, group := range file.Comments {
		for _, comment := range group.List {
			n += len(strings.Fields(wordsOf(comment.Text)))
		}
	}
	return n
}

// wordsOf returns a comment without its marks, and nothing of a directive such as //go:build or //nolint:name.
func wordsOf(comment string) string {
	if line, ok := strings.CutPrefix(comment, "//"); ok {
		directive, _, _ := strings.Cut(line, " ")
		if strings.Contains(directive, ":") && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			return ""
		}
		return line
	}
	return strings.TrimSuffix(strings.TrimPrefix(comment, "/*"), "*/")
}

// A function is one that is declared, with the closures in it.
type function struct {
	name       string
	lines      int
	complexity int
}

// functions measures the functions of a file.
func functions(fset *token.FileSet, file *ast.File) []function {
	var found []function
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		lines := fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1
		found = append(found, function{f.Name.Name, lines, complexity(f)})
	}
	return found
}

// complexity counts the ways through a function: one, and one more for each point at which they part.
func complexity(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil { // not the default
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
