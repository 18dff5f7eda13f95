package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// readPages returns the Markdown files of the repository, by their paths in it.
func (s site) readPages() (map[string][]byte, error) {
	texts := map[string][]byte{}
	err := filepath.WalkDir(s.dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", ".cache", "testdata", "target"}, entry.Name()):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".md"):
			return nil
		}
		page, err := filepath.Rel(s.dir, name)
		if err == nil {
			texts[filepath.ToSlash(page)], err = os.ReadFile(name)
		}
		return err
	})
	if err == nil && len(texts) == 0 {
		err = fmt.Errorf("there are no pages in %s", s.dir)
	}
	return texts, err
}

// place is where a file of the repository lies among the pages of the site. MkDocs leaves out hidden directories.
func place(file string) string { return strings.TrimPrefix(file, ".github/") }

// stage puts the pages and their pictures in a directory, as MkDocs wants them.
func (s site) stage(texts map[string][]byte, to string) error {
	var problems []error
	if s.playground != nil && texts[playgroundPage] == nil {
		problems = append(problems, fmt.Errorf("there is no %s, which is to show the playground", playgroundPage))
	}
	for _, page := range slices.Sorted(maps.Keys(texts)) {
		r := relinker{site: s, texts: texts, page: page}
		staged := r.relink(indent(string(texts[page])))
		if page == playgroundPage && s.playground != nil {
			staged = embed(staged)
		}
		problems = append(problems, r.problems...)
		if err := write(filepath.Join(to, place(page)), []byte(staged)); err != nil {
			return err
		}
		for _, picture := range r.pictures {
			if err := copyFile(filepath.Join(s.dir, picture), filepath.Join(to, place(picture))); err != nil {
				return err
			}
		}
	}
	return errors.Join(problems...)
}

// relative is the link from one page of the site to another file of it.
func relative(from, to string) string {
	link, err := filepath.Rel(filepath.FromSlash(path.Dir(from)), filepath.FromSlash(to))
	if err != nil {
		panic(err) // both are relative
	}
	return filepath.ToSlash(link)
}

// playgroundPage is the page that shows the playground itself, below its title.
const playgroundPage = "examples/playground/README.md"

func embed(text string) string {
	title, rest, _ := strings.Cut(text, "\n")
	return title + "\n\n<iframe class=\"playground\" src=\"../../playground/index.html\" title=\"The playground\"></iframe>\n" + rest
}
