package main

import (
	"go/scanner"
	"go/token"
	"strings"
)

// A text is what the lines of a Go file consist of.
type text struct {
	lines int
	code  []int // the numbers of the lines with code, in order
	words int   // in comments
}

// scan finds the lines with code, which are neither blank nor comment. A literal of several lines is code in each.
func scan(source []byte) text {
	t := text{lines: strings.Count(string(source), "\n")}
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	last := 0
	for {
		position, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return t
		case tok == token.COMMENT:
			t.words += len(strings.Fields(wordsOf(literal)))
			continue
		case tok == token.SEMICOLON && literal == "\n": // the end of a line
			continue
		}
		first := file.Line(position)
		for line := max(first, last+1); line <= first+strings.Count(literal, "\n"); line++ {
			t.code = append(t.code, line)
			last = line
		}
	}
}

// wordsOf returns a comment without its marks. It returns nothing for a directive such as //go:build or //nolint:name.
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
