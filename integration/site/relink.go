package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// A relinker makes a page of the repository one of the site.
type relinker struct {
	site

	texts    map[string][]byte // the repository's pages
	page     string            // the one at hand
	pictures []string          // what it shows
	problems []error
}

// inline matches what stands in a line and is more than words: code; a picture from elsewhere, whose words take its
// place, since a reader of the site asks no other server; the target of a link; and a brace, which has a meaning for
// MkDocs and none for GitHub.
var inline = regexp.MustCompile("`+[^`]+`+" + `|!\[([^\]]*)\]\(https?://[^)]*\)|\]\(([^)\s]+)\)|\{`)

// relink returns the page with links that lead to the right places from where the site has it, and with the anchors of
// its headings.
func (r *relinker) relink(text string) string {
	var staged strings.Builder
	anchors := anchors{}
	for _, part := range split(text) {
		switch {
		case part.code:
		case part.heading:
			title := strings.TrimRight(part.text, "\n")
			part.text = r.line(title) + " {#" + anchors.next(title) + "}\n"
		default:
			part.text = r.line(part.text)
		}
		staged.WriteString(part.text)
	}
	return staged.String()
}

func (r *relinker) line(text string) string {
	return inline.ReplaceAllStringFunc(text, func(found string) string {
		switch {
		case strings.HasPrefix(found, "`"):
			return strings.ReplaceAll(found, `\|`, "|") // in a table; MkDocs splits no code
		case found == "{":
			return `\{`
		case strings.HasPrefix(found, "!"):
			return inline.FindStringSubmatch(found)[1]
		}
		target, err := r.target(found[2 : len(found)-1])
		if err != nil {
			r.problems = append(r.problems, fmt.Errorf("%s: %w", r.page, err))
		}
		return "](" + target + ")"
	})
}

var elsewhere = regexp.MustCompile(`^[a-z]+:`)

// target is what a link of the page becomes.
func (r *relinker) target(link string) (string, error) {
	if elsewhere.MatchString(link) || strings.HasPrefix(link, "#") {
		return link, nil
	}
	link, anchor, found := strings.Cut(link, "#")
	if found {
		anchor = "#" + anchor
	}
	file := path.Join(path.Dir(r.page), link)
	info, err := os.Stat(filepath.Join(r.dir, file))
	if err != nil || strings.HasPrefix(file, "..") {
		return link, fmt.Errorf("there is no %s: %w", link, errors.Join(err, os.ErrNotExist))
	}
	if readme := path.Join(file, "README.md"); info.IsDir() && r.texts[readme] != nil {
		file = readme
	}
	switch {
	case r.texts[file] != nil:
		return relative(place(r.page), place(file)) + anchor, nil
	case path.Ext(file) == ".svg":
		r.pictures = append(r.pictures, file)
		return relative(place(r.page), place(file)), nil
	case path.Base(file) == "doc.go" && isShown(path.Dir(file)):
		return relative(place(r.page), packagePage(path.Dir(file))) + anchor, nil
	case info.IsDir():
		return r.address("tree", file), nil
	}
	return r.address("blob", file) + anchor, nil
}

// address is that of a file or a directory on GitHub.
func (s site) address(kind, file string) string {
	return "https://" + module + "/" + kind + "/" + s.ref + "/" + file
}
