package comparison_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A row of the page: | [Burrow](burrow_test.go) | … | 14 | 3 | `TestBurrow…`, … |.
var row = regexp.MustCompile(`(?m)^\| \[(\w+)\]\((\w+_test\.go)\) \|.* \| (\d+) \| (\d+) \| .*\|$`)

func TestLinesOfThePageAreThoseOfThePrograms(t *testing.T) {
	page, err := os.ReadFile("README.md")
	must(t, err)
	rows := row.FindAllStringSubmatch(string(page), -1)
	if len(rows) != 3 {
		t.Fatalf("got %d programs in README.md, want 3: %q", len(rows), rows)
	}
	for _, r := range rows {
		program, file := strings.ToLower(r[1]), r[2]
		want := []string{fmt.Sprint(codeLines(t, file, program+"Before")), fmt.Sprint(codeLines(t, file, program+"After"))}
		if r[3] != want[0] || r[4] != want[1] {
			t.Errorf("%s: got %s and %s lines in README.md, want %s and %s, as in %s", r[1], r[3], r[4], want[0], want[1], file)
		}
	}
}

// codeLines counts the lines of a function that have code, its first and its last one included.
func codeLines(t *testing.T, name, function string) int {
	t.Helper()
	source, err := os.ReadFile(name)
	must(t, err)
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	must(t, err)
	for _, declared := range parsed.Decls {
		if f, is := declared.(*ast.FuncDecl); is && f.Name.Name == function {
			return linesWithTokens(source[files.Position(f.Pos()).Offset:files.Position(f.End()).Offset])
		}
	}
	t.Fatalf("there is no %s in %s", function, name)
	return 0
}

func linesWithTokens(source []byte) int {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var code scanner.Scanner
	code.Init(file, source, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, text := code.Scan()
		switch {
		case tok == token.EOF:
			return len(lines)
		case tok != token.SEMICOLON || text == ";": // the scanner adds semicolons at line ends
			lines[file.Line(pos)] = true
		}
	}
}
