package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
)

// checkSameAsGitHub says where a page of the site shows something else than GitHub does. MkDocs takes some things for
// paragraphs that GitHub takes for lists, or the other way round, and warns of none.
func checkSameAsGitHub(texts map[string][]byte, built fs.FS) error {
	github := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAttribute()),
		goldmark.WithRendererOptions(html.WithUnsafe()))
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		var want bytes.Buffer
		if err := github.Convert(texts[name], &want); err != nil {
			return err
		}
		got, err := fs.ReadFile(built, builtName(place(name)))
		if err == nil {
			err = compare(got, want.Bytes())
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// builtName is the file that MkDocs makes of a page.
func builtName(page string) string {
	if path.Base(page) == "README.md" {
		return path.Join(path.Dir(page), "index.html")
	}
	return strings.TrimSuffix(page, ".md") + ".html"
}

// compare returns an error with the first difference of two pages in HTML, in what a reader sees.
func compare(got, want []byte) error {
	g, err := outline(got)
	if err != nil {
		return err
	}
	w, err := outline(want)
	if err != nil {
		return err
	}
	if end := slices.Index(g, "</h1>"); !slices.Contains(w, "<h1>") && end > 0 {
		g = g[end+1:] // a page without a title has that of mkdocs.yml
	}
	if slices.Equal(g, w) {
		return nil
	}
	at := 0
	for at < len(g) && at < len(w) && g[at] == w[at] {
		at++
	}
	near := func(all []string) string { return strings.Join(all[max(0, at-8):min(len(all), at+8)], " ") }
	return fmt.Errorf("got %q, and on GitHub %q", near(g), near(w))
}

// shown are the elements whose beginning and end a reader sees.
var shown = strings.Fields("a blockquote code del em h1 h2 h3 h4 h5 h6 hr img li ol pre strong table td th tr ul")

// outline is what a reader sees of a page: its words, and the elements around them.
func outline(text []byte) ([]string, error) {
	root, err := nethtml.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	for n := range root.Descendants() {
		if n.Data == "article" {
			root = n
			break
		}
	}
	var seen strings.Builder
	see(&seen, root)
	return strings.Fields(seen.String()), nil
}

func see(seen *strings.Builder, n *nethtml.Node) {
	kept := n.Type == nethtml.ElementNode && slices.Contains(shown, n.Data)
	switch {
	case n.Type == nethtml.TextNode:
		seen.WriteString(n.Data)
	case n.Data == "img" && elsewhere.MatchString(attribute(n, "src")):
		seen.WriteString(attribute(n, "alt")) // its words stand in its place on the site
		return
	case kept:
		seen.WriteString(" <" + n.Data + "> ")
	case n.Data == "p" || n.Data == "br":
		seen.WriteString(" ")
	}
	for child := range n.ChildNodes() {
		switch {
		case ofTheTheme(child):
		case n.Data == "pre":
			seen.WriteString(words(child))
		default:
			see(seen, child)
		}
	}
	if kept {
		seen.WriteString(" </" + n.Data + "> ")
	}
}

// words is the text of an element, whatever its colours.
func words(n *nethtml.Node) string {
	var text strings.Builder
	if n.Type == nethtml.TextNode {
		text.WriteString(n.Data)
	}
	for inside := range n.Descendants() {
		if inside.Type == nethtml.TextNode {
			text.WriteString(inside.Data)
		}
	}
	return text.String()
}

// ofTheTheme reports whether a page has an element only from its theme, such as the sign of a heading's anchor.
func ofTheTheme(n *nethtml.Node) bool {
	class := attribute(n, "class")
	return n.Type == nethtml.ElementNode && (class == "headerlink" || strings.HasPrefix(class, "md-"))
}
