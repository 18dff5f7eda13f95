package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
)

// A text is what one line of a file says.
type text struct {
	line  int
	words string
	wraps bool // it can be wrapped, so its width counts
}

// textsOf returns the texts of a file. Files that are neither pages nor scripts nor code have none.
func textsOf(name string, file []byte) ([]text, error) {
	switch filepath.Ext(name) {
	case ".go":
		return goTexts(name, file)
	case ".md":
		return pageTexts(file), nil
	case ".sh", ".java", ".py":
		return allTexts(file), nil
	}
	return nil, nil
}

// directive matches a comment for a tool.
var directive = regexp.MustCompile(`^//[a-z]+(:|lint)`)

// goTexts returns the comments of a file in Go, and its strings if it is no test.
func goTexts(name string, file []byte) ([]text, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, file, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var texts []text
	for _, group := range parsed.Comments {
		output := false // the lines after "Output:" are what an example prints
		for _, comment := range group.List {
			first := set.Position(comment.Pos()).Line
			for i, words := range strings.Split(comment.Text, "\n") {
				output = output || strings.HasPrefix(words, "// Output:") || strings.HasPrefix(words, "// Unordered output:")
				if !output {
					texts = append(texts, text{first + i, words, !directive.MatchString(words) && strings.Contains(words, " ")})
				}
			}
		}
	}
	if strings.HasSuffix(name, "_test.go") {
		return texts, nil
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			first := set.Position(literal.Pos()).Line
			for i, words := range strings.Split(literal.Value, "\n") {
				texts = append(texts, text{first + i, words, false})
			}
		}
		return true
	})
	return texts, nil
}

// pageTexts returns the lines of a page that are no code. Rows of tables, headings, links and pictures cannot be
// wrapped.
func pageTexts(file []byte) []text {
	var texts []text
	code := false
	for i, words := range strings.Split(string(file), "\n") {
		start := strings.TrimLeft(words, " \t-*>")
		if strings.HasPrefix(start, "```") {
			code = !code
			continue
		}
		if !code {
			fixed := strings.HasPrefix(start, "|") || strings.HasPrefix(start, "#") || strings.HasPrefix(start, "[") ||
				strings.HasPrefix(start, "![") || strings.HasPrefix(start, "<") || !strings.Contains(start, " ")
			texts = append(texts, text{i + 1, words, !fixed})
		}
	}
	return texts
}

// allTexts returns every line, for languages whose comments it does not know.
func allTexts(file []byte) []text {
	var texts []text
	for i, words := range strings.Split(string(file), "\n") {
		texts = append(texts, text{i + 1, words, false})
	}
	return texts
}
