package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/printer"
	"strings"
)

// examples writes what the tests show of a package, a type or a function.
func (p *packagePrinter) examples(examples []*doc.Example) {
	for _, e := range examples {
		code, err := p.exampleCode(e)
		if err != nil {
			p.err = err
			return
		}
		title := "Example"
		if e.Suffix != "" {
			title += " (" + e.Suffix + ")"
		}
		fmt.Fprintf(&p.out, "\n**%s**\n\n", title)
		p.out.Write(p.markdown.Markdown(p.pkg.Parser().Parse(e.Doc)))
		fmt.Fprintf(&p.out, "\n```go\n%s\n```\n", code)
	}
}

// exampleCode is the code of an example: a whole file, or what stands in the function.
func (p *packagePrinter) exampleCode(e *doc.Example) (string, error) {
	var out bytes.Buffer
	if err := format.Node(&out, p.set, &printer.CommentedNode{Node: e.Code, Comments: e.Comments}); err != nil {
		return "", err
	}
	code := strings.TrimSpace(out.String())
	if _, ok := e.Code.(*ast.BlockStmt); ok {
		code = strings.TrimSuffix(strings.TrimPrefix(code, "{"), "}")
		code = strings.ReplaceAll(strings.Trim(code, "\n"), "\n\t", "\n")
		code = strings.TrimPrefix(code, "\t")
	}
	return code, nil
}
