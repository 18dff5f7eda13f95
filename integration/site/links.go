package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A document is what the check has to know of a built page.
type document struct {
	anchors map[string]bool
	links   []link
}

// A link leads to a page, or to what a browser fetches to show this one.
type link struct {
	to      string
	fetched bool
}

// base is where the site lies on its server: its page for what is not there has links from there.
const base = "/curator/"

// checkLinks says each link of the built site that leads nowhere, and everything that a browser would fetch from
// another server.
func checkLinks(built fs.FS) error {
	documents := map[string]document{}
	var problems []error
	err := fs.WalkDir(built, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(built, name)
		switch path.Ext(name) {
		case ".html":
			documents[name], err = parseDocument(text)
		case ".css":
			problems = append(problems, checkStyle(name, text))
		}
		return err
	})
	if err == nil && len(documents) == 0 {
		err = errors.New("the site has no pages")
	}
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		for _, l := range documents[name].links {
			if err := checkLink(built, documents, name, l); err != nil {
				problems = append(problems, fmt.Errorf("%s: %s: %w", name, l.to, err))
			}
		}
	}
	return errors.Join(append(problems, err)...)
}

var imported = regexp.MustCompile(`(?i)(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]*)`)

// checkStyle says what a style sheet fetches from another server.
func checkStyle(name string, text []byte) error {
	var problems []error
	for _, found := range imported.FindAllSubmatch(text, -1) {
		problems = append(problems, fmt.Errorf("%s: %s: %w", name, found[1], errElsewhere))
	}
	return errors.Join(problems...)
}

var errElsewhere = errors.New("a browser fetches it from another server")

func checkLink(built fs.FS, documents map[string]document, page string, l link) error {
	u, err := url.Parse(l.to)
	switch {
	case err != nil:
		return err
	case u.Scheme == "data":
		return nil
	case u.Scheme != "" || u.Host != "":
		if l.fetched {
			return errElsewhere
		}
		return nil
	}
	file := path.Join(path.Dir(page), u.Path)
	if rest, found := strings.CutPrefix(u.Path, base); found {
		file = rest
	}
	if u.Path == "" {
		file = page
	}
	info, err := fs.Stat(built, file)
	if err == nil && info.IsDir() {
		file = path.Join(file, "index.html")
		_, err = fs.Stat(built, file)
	}
	if err != nil {
		return os.ErrNotExist
	}
	if u.Fragment != "" && !documents[file].anchors[u.Fragment] {
		return fmt.Errorf("%s has no such anchor", file)
	}
	return nil
}

// fetched has the attributes by which elements make a browser fetch something.
var fetched = map[string]string{
	"audio": "src", "embed": "src", "iframe": "src", "img": "src", "link": "href", "object": "data", "script": "src", "source": "src",
	"video": "src",
}

// parseDocument finds the links and anchors of a built page.
func parseDocument(text []byte) (document, error) {
	d := document{anchors: map[string]bool{}}
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return d, err
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if id := attribute(n, "id"); id != "" {
			d.anchors[id] = true
		}
		to := attribute(n, fetched[n.Data])
		if n.Data == "a" {
			to = attribute(n, "href")
		}
		if to != "" && attribute(n, "rel") != "canonical" {
			d.links = append(d.links, link{to, n.Data != "a"})
		}
	}
	return d, nil
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
